import { readFileSync } from "node:fs";
import type { StartRelayOptions } from "../start-relay.ts";
import { type RunningRelay, startRelay } from "../start-relay.ts";
import { type FlagTexts, readFlags, UsageError } from "./flags.ts";
import { helpText } from "./help-text.ts";
import { createLogger, type Logger } from "./logger.ts";

/** Runs the command until a signal ends it. @returns the exit code: 0, 1 if it could not start, 2 for a wrong command line */
export async function runCli(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    const flags = readFlags(args, environment);
    if (flags.has("help")) return print(helpText());
    if (flags.has("version")) return print(`${readVersion()}\n`);
    return await run(flags);
  } catch (error) {
    const isUsage = error instanceof UsageError || error instanceof RangeError;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`human-plus-relay: ${message}\n${isUsage ? "Try human-plus-relay --help.\n" : ""}`);
    return isUsage ? 2 : 1;
  }
}

async function run(flags: FlagTexts): Promise<number> {
  const logger = createLogger(flags.get("log-level") ?? "info");
  const stopped = waitForSignal();
  const relay = await startRelay({ ...relayOptions(flags), ...logging(logger) });
  process.stdout.write(`human-plus-relay listening on ${relay.url}\n`);
  logger.info({ url: relay.url, version: readVersion() }, "listening");
  const signal = await stopped;
  await stop(relay, signal, Number(flags.get("drain-ms") ?? 5_000), logger);
  return 0;
}

async function stop(relay: RunningRelay, signal: string, drainMs: number, logger: Logger): Promise<void> {
  const { sessions, streams, polls, inFlight } = relay.broker.stats();
  logger.info({ signal, sessions, streams, polls, inFlight, drainMs }, "stopping");
  await relay.close({ drainMs });
  logger.info("stopped");
}

function relayOptions(flags: FlagTexts): StartRelayOptions {
  const count = (name: Parameters<FlagTexts["get"]>[0]) => {
    const text = flags.get(name);
    return text === undefined ? undefined : Number(text);
  };
  const cors = flags.get("cors");
  return {
    port: count("port") ?? 8_787,
    host: flags.get("host"),
    prefix: flags.get("prefix"),
    cors: cors === undefined || cors === "*" ? cors : cors.split(",").map((origin) => origin.trim()),
    ttlMs: count("ttl-ms"),
    maxSessions: count("max-sessions"),
    maxClients: count("max-clients"),
    maxLegs: count("max-legs"),
    maxConnections: count("max-connections"),
    maxFrameBytes: count("max-frame-bytes"),
    maxInFlight: count("max-in-flight"),
    maxStalledBytes: count("max-stalled-bytes"),
    queueFrames: count("queue-frames"),
    queueBytes: count("queue-bytes"),
    queueAgeMs: count("queue-age-ms"),
    requestTimeoutMs: count("request-timeout-ms"),
    metrics: !flags.has("no-metrics"),
  };
}

/** Answers at debug, refusals at info, failures at error; what happens to sessions at info. */
function logging(logger: Logger): Pick<StartRelayOptions, "onAnswer" | "onEvent"> {
  return {
    onAnswer(answered) {
      const level = answered.status === 500 ? "error" : answered.status >= 400 ? "info" : "debug";
      logger[level]({ ...answered, durationMs: Math.round(answered.durationMs * 100) / 100 }, "answered");
    },
    onEvent: ({ kind, ...fields }) => logger.info(fields, kind),
  };
}

function waitForSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve(signal));
  });
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "";
}
