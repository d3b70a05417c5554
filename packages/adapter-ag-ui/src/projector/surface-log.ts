import type { AgUiJson } from "../events.ts";
import type { ProposalStanding, SurfaceOccurrence } from "../feed/occurrence.ts";
import { countHands, type SurfaceEntry, toEntry } from "./entry.ts";
import { byteLength, type SurfaceProjection } from "./projection.ts";

/** What people see of a surface: the content of its activity, and of its part of shared state. */
export interface SurfaceActivity {
  /** As the host named it. */
  readonly surface: string;
  /** Absent while it is not known. */
  readonly available?: boolean;
  readonly calls: {
    readonly running: number;
    readonly finished: number;
    readonly refused: number;
    readonly failed: number;
  };
  /** Changes by hand. `agent` is the agent whose feed it is; on the owner's side, any agent. */
  readonly changes: {
    readonly human: number;
    readonly agent: number;
    readonly other: number;
    readonly unknown: number;
  };
  readonly proposals: Readonly<Record<"waiting" | Exclude<ProposalStanding, "proposed">, number>>;
  /** The latest, by a key that grows. */
  readonly entries: Readonly<Record<string, SurfaceEntry>>;
}

export interface SurfaceLogOptions {
  readonly name: string;
  readonly projection: SurfaceProjection;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly maxDetailBytes: number;
  readonly now: () => number;
}

/** What the content holds besides entries is shorter than this. */
const ENVELOPE_BYTES = 512;

/** Proposals that may wait; of the oldest, nobody will say how it ended. */
const MAX_WAITING = 256;

/** Counts what happens and keeps the latest, as it may be shown. */
export class SurfaceLog {
  readonly #options: SurfaceLogOptions;
  readonly #entries = new Map<string, { readonly entry: SurfaceEntry; readonly bytes: number }>();
  /** Keys of entries that may go further, by call, proposal or kind. */
  readonly #open = new Map<string, string>();
  readonly #calls = { running: 0, finished: 0, refused: 0, failed: 0 };
  readonly #changes = { human: 0, agent: 0, other: 0, unknown: 0 };
  readonly #proposals = { waiting: 0, accepted: 0, rejected: 0, expired: 0, stale: 0 };
  /** Proposals that wait. */
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  #available: boolean | undefined;
  #bytes = 0;
  #next = 1;

  constructor(options: SurfaceLogOptions) {
    this.#options = options;
  }

  /** How much happened so far. */
  get isEmpty(): boolean {
    return this.#next === 1;
  }

  /** Takes what happened. @returns its entry as it stands now */
  add(occurrence: SurfaceOccurrence): SurfaceEntry {
    const { projection, maxDetailBytes: maxBytes, now } = this.#options;
    this.#count(occurrence);
    const subject = subjectOf(occurrence);
    const known = subject === undefined ? undefined : this.#open.get(subject);
    const before = known === undefined ? undefined : this.#entries.get(known);
    const key = before === undefined || known === undefined ? `e${this.#next++}` : known;
    const entry = toEntry(occurrence, projection, { at: Math.trunc(now()), maxBytes, before: before?.entry });
    const bytes = byteLength(JSON.stringify(entry)) + key.length + 4;
    this.#bytes += bytes - (before?.bytes ?? 0);
    this.#entries.set(key, { entry, bytes });
    // Only one run of a person's acts is counted together.
    if (occurrence.type !== "person_acted") this.#open.delete("person");
    if (subject !== undefined) this.#open.set(subject, key);
    if (isEnd(occurrence) && subject !== undefined) this.#open.delete(subject);
    this.#trim();
    return entry;
  }

  content(): SurfaceActivity {
    const entries = Object.fromEntries([...this.#entries].map(([key, { entry }]) => [key, entry]));
    return {
      surface: this.#options.name,
      ...(this.#available === undefined ? {} : { available: this.#available }),
      calls: { ...this.#calls },
      changes: { ...this.#changes },
      proposals: { ...this.#proposals },
      entries,
    };
  }

  #count(occurrence: SurfaceOccurrence): void {
    switch (occurrence.type) {
      case "call_started":
        this.#running.add(occurrence.call.id);
        break;
      case "call_finished":
        this.#running.delete(occurrence.call.id);
        this.#calls[occurrence.isError ? "failed" : "finished"]++;
        break;
      case "call_refused":
        this.#running.delete(occurrence.call.id);
        this.#calls[occurrence.outcome === "not_applied" ? "refused" : "failed"]++;
        break;
      case "changed": {
        const counts = countHands(occurrence.changes);
        for (const hand of ["human", "agent", "other", "unknown"] as const) this.#changes[hand] += counts[hand];
        break;
      }
      case "proposal":
        this.#countProposal(occurrence.standing, occurrence.proposalId);
        break;
      case "availability":
        this.#available = occurrence.available;
        break;
      case "person_acted":
      case "activity":
      case "call_progress":
      case "tools_changed":
        break;
      default:
        occurrence satisfies never;
    }
    this.#calls.running = this.#running.size;
  }

  #countProposal(standing: ProposalStanding, id: string | undefined): void {
    if (standing === "proposed") {
      if (id !== undefined) this.#waiting.add(id);
      const [oldest] = this.#waiting;
      if (this.#waiting.size > MAX_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
      else this.#proposals.waiting++;
      return;
    }
    this.#proposals[standing]++;
    if (id !== undefined && !this.#waiting.delete(id)) return;
    this.#proposals.waiting = Math.max(0, this.#proposals.waiting - 1);
  }

  /** The oldest go first, and a call that runs long goes with them. */
  #trim(): void {
    const { maxEntries, maxBytes } = this.#options;
    for (const [key, { bytes }] of this.#entries) {
      const fits = this.#entries.size <= maxEntries && this.#bytes + ENVELOPE_BYTES <= maxBytes;
      if (fits || this.#entries.size === 1) break;
      this.#entries.delete(key);
      this.#bytes -= bytes;
      for (const [subject, open] of this.#open) if (open === key) this.#open.delete(subject);
    }
  }
}

function subjectOf(occurrence: SurfaceOccurrence): string | undefined {
  switch (occurrence.type) {
    case "call_started":
    case "call_progress":
    case "call_finished":
    case "call_refused":
      return `call ${occurrence.call.id}`;
    case "proposal":
      return occurrence.proposalId === undefined ? undefined : `proposal ${occurrence.proposalId}`;
    case "person_acted":
      return "person";
    case "activity":
    case "changed":
    case "tools_changed":
    case "availability":
      return undefined;
    default:
      return occurrence satisfies never;
  }
}

function isEnd(occurrence: SurfaceOccurrence): boolean {
  const { type } = occurrence;
  return (
    type === "call_finished" ||
    type === "call_refused" ||
    (type === "proposal" && (occurrence as { standing: string }).standing !== "proposed")
  );
}

/** The content as JSON, for whoever wants it so. */
export function asJson(content: SurfaceActivity): { [key: string]: AgUiJson } {
  return content as unknown as { [key: string]: AgUiJson };
}
