import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// Opens every stream it is asked for, and says nothing more on it than a comment now and then.
const streams = new Set<import("node:http").ServerResponse>();
const server = createServer((request, response) => {
  if (request.method === "POST") {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("retry: 2000\n\n");
  streams.add(response);
  response.on("close", () => streams.delete(response));
});
setInterval(() => {
  for (const response of streams) response.write(": keepalive\n\n");
}, 15_000);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
