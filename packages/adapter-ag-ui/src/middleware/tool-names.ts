const MAX_NAME = 64;
const UNSAFE = /[^A-Za-z0-9_-]+/gu;
/** Looks as if it had been made of a digest, so that no name can be chosen to collide with one that was. */
const MADE = /(?:^|-)[0-9a-f]{8}$/;
const MAX_MEANINGS = 1_024;

/** Begins the names of a surface's tools. */
export function toolPrefix(surface: string): string {
  return `${surface}__`;
}

/** What names meant in a thread so far. In its history they still mean that, so they never mean anything else. */
export class NameMeanings {
  /** Tools by their names; `undefined` is a tool of somebody else. */
  readonly #tools = new Map<string, string | undefined>();

  /** Whether the name may stand for the tool: it is new, or stood for the same one. */
  allows(name: string, tool: string | undefined): boolean {
    return this.#tools.has(name) ? this.#tools.get(name) === tool : this.#tools.size < MAX_MEANINGS;
  }

  add(name: string, tool: string | undefined): void {
    if (this.#tools.size < MAX_MEANINGS || this.#tools.has(name)) this.#tools.set(name, tool);
  }
}

export interface ToolNamesOptions {
  readonly prefix: string;
  /** Names that tools of somebody else have in this run. */
  readonly taken: ReadonlySet<string>;
  readonly meanings: NameMeanings;
}

/**
 * The name of each tool that can have one: 1 to 64 of `[A-Za-z0-9_-]`. It depends on the tool's own name, and on what is not
 * the surface's; never on what else the surface offers, nor on its order. Prism hosts get the same after their prefix.
 */
export async function nameTools(
  tools: readonly string[],
  { prefix, taken, meanings }: ToolNamesOptions,
): Promise<ReadonlyMap<string, string>> {
  const isFree = (name: string, tool: string) => !taken.has(name) && meanings.allows(name, tool);
  const names = new Map<string, string>();
  const shared = new Map<string, number>();
  for (const tool of new Set(tools)) {
    const plain = prefix + (await part(tool, MAX_NAME - prefix.length));
    const name = isFree(plain, tool) ? plain : prefix + (await digestOf(tool));
    shared.set(name, (shared.get(name) ?? 0) + 1);
    if (isFree(name, tool)) names.set(tool, name);
  }
  // Digests are alike where somebody looked for such names: then neither tool may pass for the other.
  for (const [tool, name] of names) if ((shared.get(name) ?? 0) > 1) names.delete(tool);
  return names;
}

/** A name as part of another: as it is where it can be, else what is left of it and a digest of all of it. */
async function part(text: string, maxLength: number): Promise<string> {
  const safe = text.replace(UNSAFE, "_");
  if (safe === text && text !== "" && text.length <= maxLength && !MADE.test(text)) return text;
  const digest = await digestOf(text);
  const head = safe.slice(0, maxLength - digest.length - 1).replace(/^[-_]+|[-_]+$/g, "");
  return head === "" ? digest : `${head}-${digest}`;
}

/** The first 8 hex digits of SHA-256. */
async function digestOf(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash, 0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
