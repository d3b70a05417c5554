import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createBroker, createFetchHandler, createNodeListener } from "@human-plus/relay";
import { connectRawSurface, type RawSurfaceOptions } from "../../parts/raw-surface.ts";
import { createFetchServer } from "./fetch-server.ts";
import { startPlainQueue } from "./plain-queue.ts";

export const SESSION = "session-1";
export const TOKEN = "token-of-a-test-0123456789";

export interface StartRelayOptions {
  /** What the surface does with a request. @default gives back its params */
  onRequest?: RawSurfaceOptions["onRequest"];
}

/** A relay with a surface on it. */
export interface TestRelay extends AsyncDisposable {
  readonly baseUrl: string;
  readonly port: number;
  /** Frames of agents as they arrived at the surface: requests and notifications. */
  readonly frames: { readonly method: string; readonly id?: string; readonly params?: Record<string, unknown> }[];
  /** Resolves once the surface has seen what is looked for. */
  until(isTrue: () => boolean): Promise<void>;
  /** Sends a frame of the surface to the agents. */
  send(frame: unknown): Promise<void>;
  /** Connections that are open now. */
  connections(): Promise<number>;
}

export type StartRelay = (options?: StartRelayOptions) => Promise<TestRelay>;

async function startOurs(bind: (broker: ReturnType<typeof createBroker>) => Server, options: StartRelayOptions) {
  const broker = createBroker();
  const server = bind(broker);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/agent-relay`;
  const watched = watch(options);
  const surface = await connectRawSurface({ baseUrl, session: SESSION, token: TOKEN, ...watched.handlers });
  return {
    ...watched.view,
    baseUrl,
    port,
    send: surface.send,
    connections: () => connectionsOf(server),
    async [Symbol.asyncDispose]() {
      await surface[Symbol.asyncDispose]();
      broker.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function startPlain(options: StartRelayOptions): Promise<TestRelay> {
  const watched = watch(options);
  const queue = await startPlainQueue({ session: SESSION, token: TOKEN, ...watched.handlers });
  return { ...watched.view, ...queue };
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

function watch({ onRequest = ({ params = {} }) => ({ ...params }) }: StartRelayOptions) {
  const frames: TestRelay["frames"] = [];
  const watchers = new Set<() => void>();
  const onFrame = (frame: TestRelay["frames"][number]) => {
    if (frame.method.startsWith("notifications/peer_")) return;
    frames.push(frame);
    for (const look of watchers) look();
  };
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isTrue()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return { handlers: { onRequest, onFrame }, view: { frames, until } };
}

/** Our relay through each of its bindings: cursors, kept frames, event streams and both dialects. */
export const ourRelays: Readonly<Record<string, StartRelay>> = {
  "our relay on node:http": (options = {}) => startOurs((broker) => createServer(createNodeListener(broker)), options),
  "our relay as a fetch handler": (options = {}) =>
    startOurs((broker) => createFetchServer(createFetchHandler(broker)), options),
};

/** A queue that answers polls at once and knows no cursors; it has no event streams. */
export const plainQueue: StartRelay = (options = {}) => startPlain(options);
