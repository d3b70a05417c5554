import type { Socket } from "node:net";
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";

export interface DispatcherOptions {
  proxy: string | undefined;
  connectTimeoutMs: number;
}

/** Bytes the headers of an answer may have. */
const MAX_HEADER_BYTES = 16_384;

/** Connections for frames: kept alive between them, one request at a time on each. */
export function createPostDispatcher({ proxy, connectTimeoutMs }: DispatcherOptions): Dispatcher {
  const common = { maxHeaderSize: MAX_HEADER_BYTES, allowH2: false } as const;
  if (proxy === undefined) return new Agent({ ...common, connect: { timeout: connectTimeoutMs, allowH2: false } });
  return new ProxyAgent({ ...common, ...proxied(proxy, connectTimeoutMs) });
}

/** Connections for streams: each stream has its own, and none keeps the process alive. */
export function createStreamDispatcher(options: DispatcherOptions): Dispatcher {
  return createUnreferencedDispatcher(options, 0);
}

/** Connections for polls: kept alive from one poll to the next, and none keeps the process alive. */
export function createPollDispatcher(options: DispatcherOptions): Dispatcher {
  return createUnreferencedDispatcher(options, 1);
}

function createUnreferencedDispatcher({ proxy, connectTimeoutMs }: DispatcherOptions, pipelining: 0 | 1): Dispatcher {
  const common = { maxHeaderSize: MAX_HEADER_BYTES, allowH2: false, pipelining } as const;
  if (proxy === undefined) {
    const connect = buildConnector({ timeout: connectTimeoutMs, allowH2: false });
    return new Agent({ ...common, connect: unreferenced(connect) });
  }
  return new ProxyAgent({
    ...common,
    ...proxied(proxy, connectTimeoutMs),
    factory: (origin, options) => {
      const { connect, ...rest } = options as Pool.Options & { connect: buildConnector.connector };
      return new Pool(origin, { ...rest, connect: unreferenced(connect) });
    },
  });
}

function proxied(uri: string, connectTimeoutMs: number) {
  return { uri, connectTimeout: connectTimeoutMs, requestTls: { timeout: connectTimeoutMs, allowH2: false } };
}

/** undici refers to a socket again for each request that follows another one: a socket that cannot be makes this last. */
function unreferenced(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const socket = connect(options, (...result: [Error, null] | [null, Socket]) => {
      if (result[1] != null) unreference(result[1]);
      callback(...(result as Parameters<buildConnector.Callback>));
    }) as unknown as Socket | undefined;
    // A socket that still connects is given back at once by undici's own connector.
    if (typeof socket?.unref === "function") unreference(socket);
  };
}

function unreference(socket: Socket): void {
  socket.unref();
  socket.ref = () => socket;
}
