import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Broker, createBroker } from "./broker/broker.ts";
import type { BrokerOptions } from "./broker/options.ts";
import type { BindingOptions } from "./http/binding-options.ts";
import { defaultMount, normaliseMount } from "./http/mount.ts";
import { createNodeListener } from "./node-listener.ts";
import { createPrometheusMetrics } from "./prometheus-metrics.ts";

/** A relay on a `node:http` server: what a broker and a binding may be told, and where to listen. */
export interface StartRelayOptions extends BrokerOptions, Omit<BindingOptions, "metrics"> {
  /** Port to listen on; `0` takes a free one. @default 0 */
  port?: number | undefined;
  /** Address to listen on. @default "127.0.0.1" */
  host?: string | undefined;
  /** Whether the metrics route answers. @default true */
  metrics?: boolean | undefined;
  /** How long the head and the body of one request may take to arrive, in milliseconds. @default 10_000 */
  requestTimeoutMs?: number | undefined;
  /** Connections at one time; `0` for no bound. @default 0 */
  maxConnections?: number | undefined;
}

/** A running relay. */
export interface RunningRelay extends AsyncDisposable {
  /** The relay base URL, for invitations. */
  readonly url: string;
  readonly broker: Broker;
  /**
   * Takes no more connections, gives requests in flight up to `drainMs` to be answered, tells all legs, and ends.
   * @param drainMs milliseconds. Default 0: at once
   */
  close(options?: { drainMs?: number | undefined }): Promise<void>;
}

/** Largest head of a request: a URL of the contract is below 1 KB. */
const MAX_HEADER_BYTES = 16_384;

/** How long connections may take to read what they were told at the end. */
const LINGER_MS = 500;

/**
 * Starts a relay.
 *
 * @throws RangeError for options that are out of range; `Error` with the system's code if it cannot listen
 */
export async function startRelay(options: StartRelayOptions = {}): Promise<RunningRelay> {
  const { port = 0, host = "127.0.0.1", requestTimeoutMs = 10_000, maxConnections = 0 } = options;
  const broker = createBroker(options);
  const measured = options.metrics === false ? undefined : createPrometheusMetrics(broker);
  const listener = createNodeListener(broker, {
    prefix: options.prefix,
    cors: options.cors,
    metrics: measured?.read,
    onAnswer: (answered) => {
      measured?.count(answered);
      options.onAnswer?.(answered);
    },
  });
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.max(100, Math.min(5_000, requestTimeoutMs / 2)),
      noDelay: true,
    },
    listener,
  );
  if (maxConnections > 0) server.maxConnections = maxConnections;
  // What is neither read nor written for so long is dead, or takes no answers: the wait of a poll and keepalives are shorter.
  server.timeout = 2 * Math.max(broker.settings.keepAliveMs, broker.settings.maxWaitMs);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  let closing: Promise<void> | undefined;

  async function shutDown(drainMs: number): Promise<void> {
    const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
    broker.drain();
    if (drainMs > 0) await broker.idle(drainMs);
    broker.close();
    // What was told to legs is written on the next turns; connections that then linger are only kept alive.
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    server.closeIdleConnections();
    const lingering = setTimeout(() => server.closeAllConnections(), LINGER_MS);
    await isClosed;
    clearTimeout(lingering);
  }

  function close({ drainMs = 0 }: { drainMs?: number | undefined } = {}): Promise<void> {
    closing ??= shutDown(drainMs);
    return closing;
  }

  return {
    url: baseUrl(server.address() as AddressInfo, options.prefix),
    broker,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

function baseUrl({ address, family, port }: AddressInfo, prefix: string | undefined): string {
  const host = family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}${normaliseMount(prefix ?? defaultMount)}`;
}
