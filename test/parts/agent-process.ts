import { Invitation } from "@human-plus/core";
import { transports } from "../transports/parts/transports.ts";

// One of several workers that share an attachment: the same link, client and invitation in each.
const [, , relayBaseUrl = "", sessionId = "", token = "", worker = "", count = "0", name = ""] = process.argv;
const invitation = new Invitation({ relayBaseUrl, sessionId, token, surfaceId: "canvas", application: "test" });
const link = { id: "shared", client: "worker", invitation };
const open = transports[name];
if (open === undefined) throw new Error(`no transport ${name}`);
const transport = open();
const answers = await Promise.all(
  Array.from({ length: Number(count) }, (_, n) => {
    const id = crypto.randomUUID();
    return transport
      .exchange(link, { jsonrpc: "2.0", id, method: "tools/call", params: { n, from: worker } }, { timeoutMs: 25_000 })
      .then(({ id: answered, result }) => answered === id && result?.["n"] === n && result?.["from"] === worker);
  }),
);
process.stdout.write(`${answers.filter(Boolean).length}\n`);
await transport.close();
