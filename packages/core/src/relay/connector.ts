import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from "node:net";
import { PassThrough } from "node:stream";
import { buildConnector } from "undici";
import { ConnectError } from "./connect-error.ts";

/** Makes a TCP connection, as `net.connect` does. It should look names up with the `lookup` that it is given. */
export type TcpConnect = (options: TcpNetConnectOpts) => Socket;

/** Where a connection should lead. */
interface Destination {
  readonly hostname: string;
  readonly port: number;
  readonly protocol: string;
}

/** Sockets that are about to be made, or have been made, on the way to a destination. */
interface RouteOptions {
  /** Makes the socket, as the endpoint was told to. */
  connect: TcpConnect;
  /** Ends the attempt. */
  signal: AbortSignal;
}

/** A way to a relay: gives a socket that carries bytes to it and to nobody else. Rejects with a `ConnectError`, or as sockets fail. */
export type Route = (
  destination: Destination,
  options: RouteOptions,
) => Promise<{ readonly socket: Socket; readonly address?: string | undefined }>;

export interface ConnectorOptions {
  route: Route;
  connect?: TcpConnect | undefined;
  timeoutMs: number;
  /** Whether a connection keeps the process alive. */
  keepsAlive: boolean;
  /** Ends what is being connected. */
  closing: AbortSignal;
  /** A connection stands; `address` is the one at its other end, where the route knows it. */
  onConnect?: ((socket: Socket, destination: Destination, address: string | undefined) => void) | undefined;
}

/** Connects undici to relays over a route, with TLS inside of it for https. One time limit for all of it. */
export function createConnector({
  route,
  connect = connectTcp,
  timeoutMs,
  keepsAlive,
  closing,
  onConnect,
}: ConnectorOptions): buildConnector.connector {
  const secure = buildConnector({ timeout: timeoutMs, allowH2: false });
  const opened: TcpConnect = (options) => {
    const socket = connect(options);
    if (!keepsAlive) unreference(socket);
    // Whoever waits hears of errors by a listener of its own; between two of them, none may end the process.
    socket.on("error", () => {});
    return socket;
  };

  async function establish(options: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    const { hostname, protocol } = options;
    const port = Number(options.port || (protocol === "https:" ? 443 : 80));
    const destination: Destination = { hostname, port, protocol };
    signal.throwIfAborted();
    const { socket, address } = await route(destination, { connect: opened, signal });
    const finished = protocol === "https:" ? await upgrade(secure, options, socket, signal) : socket;
    if (!keepsAlive) unreference(finished);
    finished.setNoDelay(true);
    onConnect?.(finished, destination, address);
    return finished;
  }

  return (options, callback) => {
    const attempt = new AbortController();
    const { signal } = attempt;
    const stop = () => attempt.abort(new ConnectError("CLOSED"));
    const timer = setTimeout(() => attempt.abort(new ConnectError("UND_ERR_CONNECT_TIMEOUT")), timeoutMs);
    if (!keepsAlive) timer.unref();
    if (closing.aborted) stop();
    closing.addEventListener("abort", stop);
    Promise.race([establish(options, signal), rejection(signal)])
      .finally(() => {
        clearTimeout(timer);
        closing.removeEventListener("abort", stop);
      })
      .then(
        (socket) => callback(null, socket),
        (error) => callback(error, null),
      );
    // undici gives up an attempt that nobody waits for any more by destroying the stream that stands for it.
    return new PassThrough().once("close", stop) as never;
  };
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Resolves once a socket is connected. */
export function connected(socket: Socket, signal: AbortSignal): Promise<void> {
  return waitFor(socket, "connect", signal);
}

/** Resolves with an event of a socket, rejects when the socket fails first. A signal ends the socket. */
export async function waitFor(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  const onAbort = () => void socket.destroy(signal.reason);
  let settle: { event: () => void; error: (error: unknown) => void; close: () => void } | undefined;
  try {
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    await new Promise<void>((resolve, reject) => {
      settle = { event: resolve, error: reject, close: () => reject(new ConnectError("ECONNRESET")) };
      socket.once(event, settle.event).once("error", settle.error).once("close", settle.close);
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (settle !== undefined) socket.off(event, settle.event).off("error", settle.error).off("close", settle.close);
  }
}

function upgrade(
  secure: buildConnector.connector,
  options: buildConnector.Options,
  socket: Socket,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const onAbort = () => void socket.destroy(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    secure({ ...options, httpSocket: socket }, (error, finished) => {
      signal.removeEventListener("abort", onAbort);
      if (error === null) return resolve(finished as Socket);
      socket.destroy();
      reject(signal.aborted ? signal.reason : error);
    });
  });
}

/** undici refers to a socket again for each request that follows another one: a socket that cannot be makes this last. */
function unreference(socket: Socket): void {
  socket.unref();
  socket.ref = () => socket;
}
