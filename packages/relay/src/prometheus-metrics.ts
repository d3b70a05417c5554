import type { RouteName } from "@human-plus/core/protocol";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Broker } from "./broker/broker.ts";
import type { BrokerStats } from "./broker/stats.ts";
import type { Answered, MetricsText } from "./http/binding-options.ts";

/** A relay's numbers in the Prometheus text format. They name no session, client or token. */
export interface PrometheusMetrics {
  /** Counts an answer. */
  count(answered: Answered): void;
  read(): Promise<MetricsText>;
}

const gauges = {
  sessions: "Sessions.",
  clients: "Clients of all sessions.",
  streams: "Open event streams.",
  polls: "Waiting polls.",
  inFlight: "Requests without an answer.",
  keptFrames: "Frames kept for readers.",
  keptBytes: "Bytes of frames kept for readers.",
} as const satisfies Partial<Record<keyof BrokerStats, string>>;

const counters = {
  framesToSurface: "Frames taken for surfaces.",
  framesToAgents: "Frames taken for agents, counted once for each.",
  framesDropped: "Responses nobody asked for, and presence that a peer claimed.",
  gaps: "How often a reader was told that it missed frames.",
  slowReadersCut: "Streams cut off because their reader took nothing.",
  sessionsOpened: "Sessions opened.",
  sessionsExpired: "Sessions that ended because nobody used them.",
} as const satisfies Partial<Record<keyof BrokerStats, string>>;

/** Routes that answer at once, so that a duration says something about the relay. */
const timedRoutes = new Set<string>(["register", "sendToSurface", "sendToAgents", "unregister"] satisfies RouteName[]);

export function createPrometheusMetrics(broker: Broker): PrometheusMetrics {
  const registry = new Registry();
  const registers = [registry];
  const gaugeOf = Object.entries(gauges).map(([key, help]) => {
    return { key: key as keyof typeof gauges, gauge: new Gauge({ name: metricName(key), help, registers }) };
  });
  const counterOf = Object.entries(counters).map(([key, help]) => {
    const name = `${metricName(key)}_total`;
    return { key: key as keyof typeof counters, counter: new Counter({ name, help, registers }) };
  });
  const refusals = new Counter({
    name: metricName("refusalsTotal"),
    help: "Refusals, by code of the contract's error table.",
    labelNames: ["code"],
    registers,
  });
  const answers = new Counter({
    name: metricName("answersTotal"),
    help: "Answers, by route and status.",
    labelNames: ["route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: metricName("answerSeconds"),
    help: "From a request to its answer, for routes that do not wait.",
    labelNames: ["route"],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
    registers,
  });

  return {
    count({ route = "none", status, durationMs }) {
      answers.inc({ route, status });
      if (timedRoutes.has(route)) durations.observe({ route }, durationMs / 1_000);
    },
    async read() {
      const stats = broker.stats();
      for (const { key, gauge } of gaugeOf) gauge.set(stats[key]);
      for (const { key, counter } of counterOf) {
        counter.reset();
        counter.inc(stats[key]);
      }
      refusals.reset();
      for (const [code, count] of Object.entries(stats.refusals)) refusals.inc({ code }, count);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function metricName(key: string): string {
  return `human_plus_relay_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
}
