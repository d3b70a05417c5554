/** What happened, in plain words, and what of it must not have happened. */
export interface Story {
  readonly lines: readonly string[];
  /** Forgets what was told before. */
  begin(lines: readonly string[]): void;
  tell(line: string): void;
  /** The name of a marker: r1, r2, ... in the order in which they were first seen. */
  nameOf(marker: string | undefined): string;
  /** Something broke a promise. The first one counts: what comes later may only follow from it. */
  blame(promise: string, line: string): void;
  /** Throws the story if something was blamed. */
  assertKept(): void;
}

export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
  /** Which promise. */
  readonly promise: string;

  constructor(promise: string, lines: readonly string[], last: string) {
    super([`${promise}:`, ...lines.map((line, index) => `  ${index + 1}. ${line}`), `  => ${last}`].join("\n"));
    this.promise = promise;
  }
}

export function createStory(): Story {
  const lines: string[] = [];
  const markers = new Map<string, string>();
  let broken: BrokenPromise | undefined;
  return {
    lines,
    begin: (first) => void lines.splice(0, lines.length, ...first),
    tell: (line) => void lines.push(line),
    nameOf(marker) {
      if (marker === undefined) return "nothing";
      const name = markers.get(marker) ?? `r${markers.size + 1}`;
      markers.set(marker, name);
      return name;
    },
    blame(promise, line) {
      broken ??= new BrokenPromise(promise, lines, line);
    },
    assertKept() {
      if (broken !== undefined) throw broken;
    },
  };
}

/** "Ada moves Plan, and Tidy edits Rent". */
export function listOf(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "nothing") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`;
}
