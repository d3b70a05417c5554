import { connect, type Socket } from "node:net";
import { request } from "undici";
import { startRelayProcess } from "../../test/parts/relay-process.ts";
import { rssOf, startChild } from "./child-process.ts";

const AGENTS = 5_000;
const AGENTS_PER_SESSION = 50;
const SETTLE_MS = 17_000;
const token = "bench-token-0123456789";

/** Resident memory that one idle stream costs, in bytes, on the relay and on a server that does nothing else. */
export async function compareIdle(): Promise<{ relay: number; bare: number; ratio: number }> {
  await using relay = await startRelayProcess();
  await using bare = await startChild("bare-streams-process.ts");
  const onRelay = await costOf(relay.baseUrl, relay.process.pid as number);
  const onBare = await costOf(`http://127.0.0.1:${bare.said}`, bare.process.pid as number);
  return { relay: onRelay, bare: onBare, ratio: onRelay / onBare };
}

async function costOf(baseUrl: string, pid: number): Promise<number> {
  const sockets: Socket[] = [];
  const session = (index: number) => `idle-${Math.floor(index / AGENTS_PER_SESSION)}`;
  for (let index = 0; index < AGENTS; index += AGENTS_PER_SESSION) await register(baseUrl, session(index));
  await openStream(baseUrl, session(0), "first").then((socket) => sockets.push(socket));
  const before = rssOf(pid);
  for (let index = 1; index < AGENTS; index += 50) {
    const some = Array.from({ length: Math.min(50, AGENTS - index) }, (_, n) => index + n);
    sockets.push(...(await Promise.all(some.map((n) => openStream(baseUrl, session(n), `agent-${n}`)))));
  }
  // Long enough for a keepalive on each, and for what opening them left behind to be collected.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const cost = (rssOf(pid) - before) / AGENTS;
  for (const socket of sockets) socket.destroy();
  return cost;
}

async function register(baseUrl: string, session: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await request(`${baseUrl}/register`, {
    method: "POST",
    headers,
    body: JSON.stringify({ session, token }),
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`register was answered with ${answer.statusCode}`);
}

/** A stream with nothing on its client's side but the socket. */
function openStream(baseUrl: string, session: string, client: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const path = `${pathname === "/" ? "" : pathname}/${session}/events?token=${token}&client=${client}&direction=outbound`;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\n\r\n`);
    socket.once("data", (head) => {
      if (!head.toString("latin1").startsWith("HTTP/1.1 200")) reject(new Error(`refused: ${head}`));
      socket.resume();
      resolve(socket);
    });
    socket.once("error", reject);
  });
}
