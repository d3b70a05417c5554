import type { Confirmations } from "./confirmations.ts";
import type { Deadlines } from "./deadlines.ts";
import type { QueueBounds } from "./frame-queue.ts";
import type { BrokerSettings } from "./options.ts";
import type { BrokerCounters } from "./stats.ts";

/** What all parts of one broker share. */
export interface BrokerContext {
  readonly settings: BrokerSettings;
  readonly bounds: QueueBounds;
  readonly deadlines: Deadlines;
  readonly confirmations: Confirmations;
  readonly counters: BrokerCounters;
  /** Open legs, counted as they come and go. */
  readonly open: { streams: number; polls: number };
}
