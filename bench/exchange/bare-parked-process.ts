import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// Parks every request it is asked, and answers none.
const parked = new Set<import("node:http").ServerResponse>();
const server = createServer((request, response) => {
  if (request.method === "POST") {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
    return;
  }
  parked.add(response);
  response.on("close", () => parked.delete(response));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
