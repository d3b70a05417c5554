import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgUiHandler, nodeListener } from "@human-plus/adapter-ag-ui/handler";

// What the handler of AG-UI costs beside a bare one, which checks nothing, over sockets of one process. Requests to both take
// turns, so what else the machine does meets them alike. Nothing here fails: read it.

const ROUNDS = 1_000;
const WARM_UP = 200;
const EVENTS = 2_000;

/** When the last request to each was authorized. */
let authorizedAt = 0;

async function* run(count: number) {
  yield { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" };
  for (let index = 0; index < count; index++)
    yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: `word${index} ` };
  yield { type: "TEXT_MESSAGE_END", messageId: "m" };
}

const ours = nodeListener(
  createAgUiHandler({
    authorize() {
      authorizedAt = performance.now();
      return {};
    },
    run: ({ input }) => run(Number(input)),
  }),
);

const bare: RequestListener = (incoming, outgoing) => {
  answer(incoming).then(
    async ({ threadId, runId, count }) => {
      authorizedAt = performance.now();
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      const send = async (event: object) => {
        if (!outgoing.write(`data: ${JSON.stringify(event)}\n\n`)) await once(outgoing, "drain");
      };
      await send({ type: "RUN_STARTED", threadId, runId });
      for await (const event of run(count)) await send(event);
      await send({ type: "RUN_FINISHED", threadId, runId });
      outgoing.end();
    },
    () => outgoing.destroy(),
  );
};

async function answer(incoming: IncomingMessage): Promise<{ threadId: string; runId: string; count: number }> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { threadId, runId, messages } = JSON.parse(Buffer.concat(chunks).toString()) as {
    threadId: string;
    runId: string;
    messages: Array<{ content: string }>;
  };
  return { threadId, runId, count: Number(messages[0]?.content) };
}

interface Timing {
  /** From `authorize` to the first byte of the body, in milliseconds. */
  readonly firstMs: number;
  /** From the request to the end, in milliseconds. */
  readonly allMs: number;
  readonly bytes: number;
}

const agent = new Agent({ keepAlive: true });

async function ask(port: number, count: number): Promise<Timing> {
  const body = JSON.stringify({
    threadId: "t",
    runId: "r",
    messages: [{ id: "u", role: "user", content: String(count) }],
  });
  const begunAt = performance.now();
  const outgoing = request({
    port,
    host: "127.0.0.1",
    method: "POST",
    agent,
    headers: { "content-type": "application/json" },
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  let firstAt = 0;
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    if (firstAt === 0) firstAt = performance.now();
    bytes += chunk.length;
  });
  await once(incoming, "end");
  return { firstMs: firstAt - authorizedAt, allMs: performance.now() - begunAt, bytes };
}

async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const servers = { bare: await listening(bare), ours: await listening(ours) };

async function compare(rounds: number, count: number) {
  const timings: Record<keyof typeof servers, Timing[]> = { bare: [], ours: [] };
  for (let round = 0; round < rounds; round++)
    for (const name of ["bare", "ours"] as const) timings[name].push(await ask(servers[name].port, count));
  return (of: (timing: Timing) => number) => {
    const [one, other] = [timings.bare.map(of), timings.ours.map(of)];
    return {
      bare: median(one),
      ours: median(other),
      ratio: median(other.map((value, index) => value / (one[index] ?? 1))),
    };
  };
}

const row = (what: string, figures: string, target = "") =>
  console.log(`${what.padEnd(40)} ${figures.padEnd(44)} ${target}`);
const ms = (value: number) => `${value.toFixed(3)} ms`;

await compare(WARM_UP, 3);
const short = await compare(ROUNDS, 3);
const first = short(({ firstMs }) => firstMs);
row("first byte after authorize, bare SSE", ms(first.bare));
row("  createAgUiHandler", `${ms(first.ours)}, ${first.ratio.toFixed(2)}x`, "under 5 ms");
const whole = short(({ allMs }) => allMs);
row("request of 3 words, bare SSE", ms(whole.bare));
row("  createAgUiHandler", `${ms(whole.ours)}, ${whole.ratio.toFixed(2)}x`);
await compare(5, EVENTS);
const long = (await compare(60, EVENTS))(({ allMs }) => allMs);
row(`run of ${EVENTS} words, bare SSE`, ms(long.bare));
row("  createAgUiHandler", `${ms(long.ours)}, ${long.ratio.toFixed(2)}x`);

agent.destroy();
for (const { server } of Object.values(servers)) server.close();
