import { Invitation } from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";
import { startChild } from "./child-process.ts";
import { median, runLoad } from "./load.ts";

const ROUNDS = 9;
const REPLIES = 40;

/** Milliseconds for one exchange with a reply of 256 KiB, in one chunk and in chunks of 64 bytes. */
export async function compareChunks(): Promise<{ whole: number; small: number; ratio: number }> {
  await using relay = await startChild("chunked-relay-process.ts");
  const transport = createSseTransport({ egress: { unverified: true } });
  const call = (sessionId: string) => {
    const relayBaseUrl = `http://127.0.0.1:${relay.said}`;
    const fields = { relayBaseUrl, sessionId, token: "bench-token-0123456789", surfaceId: "x", application: "x" };
    const link = { id: sessionId, client: "agent", invitation: new Invitation(fields) };
    return () =>
      transport.exchange(link, { jsonrpc: "2.0", id: crypto.randomUUID(), method: "ping" }, { timeoutMs: 30_000 });
  };
  const whole = call("whole");
  const small = call("small");
  await runLoad([whole], REPLIES);
  await runLoad([small], REPLIES);
  const rounds: { whole: number; small: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ whole: (await runLoad([whole], REPLIES)).p50, small: (await runLoad([small], REPLIES)).p50 });
  await transport.close();
  return {
    whole: median(rounds.map((round) => round.whole)),
    small: median(rounds.map((round) => round.small)),
    ratio: median(rounds.map((round) => round.small / round.whole)),
  };
}
