import { compareCalls } from "./exchange/compare-calls.ts";
import { compareChunks } from "./exchange/compare-chunks.ts";
import { compareIdle } from "./exchange/compare-idle.ts";
import { compareParked } from "./exchange/compare-parked.ts";
import { comparePolls } from "./exchange/compare-polls.ts";
import { measureClosing } from "./exchange/measure-closing.ts";

// What a call costs beside the bare pattern (undici POST, reply on one open event stream), relay and surfaces in
// processes of their own. Only ratios of one run mean something. Nothing here fails: read it.

const row = (what: string, figures: string, target = "") =>
  console.log(`${what.padEnd(38)} ${figures.padEnd(44)} ${target}`);
const ms = (value: number) => `${value.toFixed(3)} ms`;
const perSecond = (value: number) => `${Math.round(value)}/s`;

const one = await compareCalls(1, 2_000);
row("p50 at 1 attachment, bare", ms(one.ways.bare.p50));
row("  exchange", `${ms(one.ways.exchange.p50)}, ${one.latencyRatio("exchange").toFixed(2)}x`);
row("  call, catalogue cached", `${ms(one.ways.call.p50)}, ${one.latencyRatio("call").toFixed(2)}x`, "at most 1.6x");

const many = await compareCalls(16, 600);
row("throughput at 16 attachments, bare", perSecond(many.ways.bare.throughput));
row("  exchange", `${perSecond(many.ways.exchange.throughput)}, ${many.throughputRatio("exchange").toFixed(2)}x`);
row(
  "  call, catalogue cached",
  `${perSecond(many.ways.call.throughput)}, ${many.throughputRatio("call").toFixed(2)}x`,
  "at least 0.6x",
);

const polls = await comparePolls(16, 300);
row("throughput at 16, bare POST and poll", perSecond(polls.ways.bare.throughput));
for (const way of ["outbox", "poll", "auto"] as const) {
  const figures = `${perSecond(polls.ways[way].throughput)}, ${polls.throughputRatio(way).toFixed(2)}x`;
  row(way === "auto" ? "  exchange, by itself" : `  exchange, dialect ${way}`, figures, "at least 0.45x");
}

const chunks = await compareChunks();
row("reply of 256 KiB in one chunk", ms(chunks.whole));
row("  in chunks of 64 bytes", `${ms(chunks.small)}, ${chunks.ratio.toFixed(2)}x`, "at most 3x");

row("from close() to the end of the process", `${await measureClosing()} ms`);

const idle = await compareIdle();
const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
row("one of 5,000 idle streams, node:http", kib(idle.bare));
row("  one of 5,000 idle agents, relay", `${kib(idle.relay)}, ${idle.ratio.toFixed(2)}x`, "at most 1.4x");

const parked = await compareParked();
row("one of 10,000 parked requests, node:http", kib(parked.bare));
row("  one of 10,000 parked polls, relay", `${kib(parked.relay)}, ${parked.ratio.toFixed(2)}x`, "at most 1.4x");
