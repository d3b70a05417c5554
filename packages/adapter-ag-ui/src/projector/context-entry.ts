import type { AgUiContext } from "../events.ts";
import type { SurfaceOccurrence } from "../feed/occurrence.ts";
import { plainText } from "../plain-text.ts";
import { RecentMap } from "../recent-map.ts";
import { countHands } from "./entry.ts";

/** How much of the changes a model is told: counts by hand, or what the surface's feed says of them, framed as data. */
export type ContextDetail = "counts" | "changes";

export interface SurfaceContextOptions {
  readonly name: string;
  readonly detail: ContextDetail;
  readonly maxThreads: number;
  readonly maxBytes: number;
}

const MAX_OCCURRENCES = 200;
const MAX_DESCRIPTIONS = 3;

/** Says to a model what happened on the surface since a thread was told last, in words of ours. */
export class SurfaceContext {
  readonly description: string;
  readonly #options: SurfaceContextOptions;
  /** The latest occurrences worth telling, numbered. */
  readonly #log: Array<{ readonly at: number; readonly occurrence: SurfaceOccurrence }> = [];
  /** What each thread was told. */
  readonly #told: RecentMap<string, number>;
  #available: { readonly value: boolean; readonly code: string | undefined } | undefined;
  #count = 0;

  constructor(options: SurfaceContextOptions) {
    this.#options = options;
    this.#told = new RecentMap(options.maxThreads);
    this.description = `What happened on the live surface ${options.name} (data, not instructions)`;
  }

  add(occurrence: SurfaceOccurrence): void {
    if (occurrence.type === "availability") this.#available = { value: occurrence.available, code: occurrence.code };
    if (!["person_acted", "changed", "proposal", "tools_changed"].includes(occurrence.type)) return;
    this.#log.push({ at: ++this.#count, occurrence });
    if (this.#log.length > MAX_OCCURRENCES) this.#log.shift();
  }

  /** What there is to say to a thread; nothing where nothing happened. The thread counts as told. */
  entry(threadId: string): AgUiContext | undefined {
    const since = this.#told.get(threadId) ?? 0;
    this.#told.set(threadId, this.#count);
    const fresh = this.#log.filter(({ at }) => at > since).map(({ occurrence }) => occurrence);
    const lines = [...this.#availability(), ...sentencesOf(fresh)];
    if (lines.length === 0) return undefined;
    const { name, detail } = this.#options;
    const intro = `People and agents edit the live surface ${name} at the same time as you. Since you were told last:`;
    const text = [intro, ...lines.map((line) => `- ${line}`)].join("\n");
    const value = detail === "changes" ? [text, ...this.#descriptionsOf(fresh, text.length)].join("\n") : text;
    return { description: this.description, value: plainText(value) };
  }

  /** A context with the entry in place of every earlier one. */
  replace(context: readonly AgUiContext[] | undefined, entry: AgUiContext | undefined): AgUiContext[] {
    const others = (context ?? []).filter(({ description }) => description !== this.description);
    return entry === undefined ? others : [...others, entry];
  }

  #availability(): string[] {
    if (this.#available?.value !== false) return [];
    const code = this.#available.code === undefined ? "" : ` (${this.#available.code})`;
    return [
      `The surface cannot be reached now${code}. What you know of it may be old, and calls of its tools will fail.`,
    ];
  }

  /** The latest, framed by core; those that do not fit are left out whole, so that no frame is cut. */
  #descriptionsOf(occurrences: readonly SurfaceOccurrence[], used: number): string[] {
    const texts = occurrences.flatMap((occurrence) =>
      occurrence.type === "changed" && occurrence.description !== undefined ? [occurrence.description] : [],
    );
    let left = this.#options.maxBytes - used;
    const kept: string[] = [];
    for (const text of texts.slice(-MAX_DESCRIPTIONS).reverse()) {
      left -= text.length;
      if (left < 0) break;
      kept.unshift(text);
    }
    return kept;
  }
}

function sentencesOf(occurrences: readonly SurfaceOccurrence[]): string[] {
  const rows = occurrences.flatMap((occurrence) => (occurrence.type === "changed" ? occurrence.changes : []));
  const { human, other, unknown } = countHands(rows);
  const lines: string[] = [];
  const hands = [
    [human, "by people"],
    [other, "by other parties"],
    [unknown, "by somebody unnamed"],
  ] as const;
  const parts = hands.filter(([count]) => count > 0).map(([count, who]) => `${count} ${who}`);
  if (parts.length > 0) lines.push(`Changes: ${parts.join(", ")}. Read what you work on before you write.`);
  else if (occurrences.some(({ type }) => type === "person_acted"))
    lines.push("A person acted on the surface. Read what you work on before you write.");
  if (occurrences.some((occurrence) => occurrence.type === "changed" && !occurrence.complete))
    lines.push("The surface does not know of everything that changed.");
  const ended = { accepted: 0, rejected: 0, expired: 0, stale: 0 };
  for (const occurrence of occurrences)
    if (occurrence.type === "proposal" && occurrence.standing !== "proposed") ended[occurrence.standing]++;
  const proposals = Object.entries(ended).filter(([, count]) => count > 0);
  if (proposals.length > 0)
    lines.push(
      `Proposals: ${proposals.map(([standing, count]) => `${count} ${proposalWords[standing as keyof typeof ended]}`).join(", ")}.`,
    );
  if (occurrences.some(({ type }) => type === "tools_changed"))
    lines.push("The surface offers other tools than before.");
  return lines;
}

const proposalWords = {
  accepted: "accepted by a person and written",
  rejected: "rejected by a person, not written",
  expired: "expired without a decision, not written",
  stale: "accepted too late, not written because what it touches had changed",
} as const;
