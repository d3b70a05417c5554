import { once } from "node:events";
import { startRelayProcess } from "../../test/parts/relay-process.ts";
import { startChild } from "./child-process.ts";

const token = "bench-token-0123456789";

/** Milliseconds from the end of `close()` to the end of the process. */
export async function measureClosing(): Promise<number> {
  await using relay = await startRelayProcess();
  await using _surface = await startChild("surface-process.ts", relay.baseUrl, token, "closing");
  await using agent = await startChild("closing-process.ts", relay.baseUrl, "closing", token);
  if (agent.process.exitCode === null) await once(agent.process, "exit");
  return Date.now() - Number(agent.said);
}
