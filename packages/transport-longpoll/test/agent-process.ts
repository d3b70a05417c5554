import { HumanPlusError } from "@human-plus/core";
import { linkTo, openTransport, request } from "./poll-endpoint.ts";

// An agent in a process of its own: it makes an exchange and leaves its transport in the state it is told to.
const [, , state = "", baseUrl = "", options = "{}"] = process.argv;
const transport = openTransport({ idleLegMs: 600_000, ...JSON.parse(options) });
const link = linkTo(baseUrl);
if (state === "held") transport.hold(link);
try {
  await transport.exchange(link, request(), { timeoutMs: state === "waiting" ? 500 : 20_000 });
  process.stdout.write("answered\n");
} catch (error) {
  if (!(error instanceof HumanPlusError)) throw error;
  process.stdout.write(`${error.code} ${error.outcome}\n`);
}
if (state === "closed") {
  await transport.close();
  await new Promise((resolve) => setImmediate(resolve));
  const left = process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap"); // its own output
  if (left.length > 0) process.stdout.write(`left ${left.join(" ")}\n`);
}
