import { connect, type Socket } from "node:net";
import { request } from "undici";
import { startRelayProcess } from "../../test/parts/relay-process.ts";
import { rssOf, startChild } from "./child-process.ts";

const POLLS = 10_000;
const POLLS_PER_SESSION = 50;
const SETTLE_MS = 3_000;
const token = "bench-token-0123456789";

/** Resident memory that one parked poll costs, in bytes, on the relay and on a server that parks requests and no more. */
export async function compareParked(): Promise<{ relay: number; bare: number; ratio: number }> {
  await using relay = await startRelayProcess(["--port", "0", "--max-sessions", "1000"]);
  await using bare = await startChild("bare-parked-process.ts");
  const onRelay = await costOf(relay.baseUrl, relay.process.pid as number);
  const onBare = await costOf(`http://127.0.0.1:${bare.said}`, bare.process.pid as number);
  return { relay: onRelay, bare: onBare, ratio: onRelay / onBare };
}

async function costOf(baseUrl: string, pid: number): Promise<number> {
  const sockets: Socket[] = [];
  const session = (index: number) => `parked-${Math.floor(index / POLLS_PER_SESSION)}`;
  for (let index = 0; index < POLLS; index += POLLS_PER_SESSION) await register(baseUrl, session(index));
  const before = rssOf(pid);
  for (let index = 0; index < POLLS; index += 100) {
    const some = Array.from({ length: 100 }, (_, n) => index + n);
    sockets.push(...(await Promise.all(some.map((n) => park(baseUrl, session(n), `agent-${n}`)))));
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const cost = (rssOf(pid) - before) / POLLS;
  for (const socket of sockets) socket.destroy();
  return cost;
}

async function register(baseUrl: string, session: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ session, token });
  const answer = await request(`${baseUrl}/register`, { method: "POST", headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`register was answered with ${answer.statusCode}`);
}

/** A poll with nothing on its client's side but the socket. */
function park(baseUrl: string, session: string, client: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const path = `${pathname === "/" ? "" : pathname}/${session}/outbox?token=${token}&client=${client}&direction=outbound&wait=25`;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\naccept: application/json\r\n\r\n`, () =>
      resolve(socket),
    );
    socket.once("data", (head) => reject(new Error(`answered: ${head}`)));
    socket.on("error", reject);
  });
}
