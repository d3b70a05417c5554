/** Where a value breaks the contract, and how. Never holds the value itself. */
export interface Issue {
  /** JSON Pointer into the input; `""` is the input itself. At most 256 characters. */
  readonly pointer: string;
  /** The rule that was broken: a keyword of the schema (`type`, `required`, `x-max-bytes`, ...) or `json`. */
  readonly rule: string;
  /** What the contract expects there. */
  readonly expected: string;
  /** What came: its type and size, never its text. */
  readonly received: string;
}

/** What a `safeParse` gives: the value with what was left out of it, or what is wrong. Each list holds at most 16 issues. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly notices: readonly Issue[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** One step into a value, kept as a chain so that a pointer costs nothing until somebody needs it. */
export interface Place {
  readonly parent: Place | undefined;
  readonly key: string | number;
}

const MAX_ISSUES = 16;
const MAX_POINTER_LENGTH = 256;
const NONE: readonly Issue[] = Object.freeze([]);

/** Collects the issues of one parse, bounded. */
export class Notes {
  #issues: Issue[] | undefined;
  #notices: Issue[] | undefined;

  get issues(): readonly Issue[] {
    return this.#issues ?? NONE;
  }

  get notices(): readonly Issue[] {
    return this.#notices ?? NONE;
  }

  get isEmpty(): boolean {
    return this.#issues === undefined && this.#notices === undefined;
  }

  refuse(issue: Issue): undefined {
    this.#issues ??= [];
    if (this.#issues.length < MAX_ISSUES) this.#issues.push(issue);
    return undefined;
  }

  notice(issue: Issue): void {
    this.#notices ??= [];
    if (this.#notices.length < MAX_ISSUES) this.#notices.push(issue);
  }

  /** Takes over what was noticed inside a value. What made an element unreadable is only a notice about its list. */
  absorb(inner: Notes): void {
    for (const issue of inner.issues) this.notice(issue);
    for (const notice of inner.notices) this.notice(notice);
  }
}

export function pointerOf(place: Place | undefined, rest = ""): string {
  const keys: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) keys.push(`/${escapeKey(at.key)}`);
  const pointer = keys.reverse().join("") + rest;
  return pointer.length <= MAX_POINTER_LENGTH ? pointer : `${pointer.slice(0, MAX_POINTER_LENGTH - 1)}…`;
}

/** Keys come from outside: those that are no plain words are shown by their length alone. */
function escapeKey(key: string | number): string {
  if (typeof key === "number" || /^[\w./:-]{1,64}$/.test(key)) {
    return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  }
  return `(key of ${key.length} characters)`;
}

/** Type and size of a value, for an issue. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "string":
      return `text of ${value.length} characters`;
    case "number":
    case "boolean":
      return `${typeof value} ${value}`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? `list of ${value.length}` : "object";
    default:
      return typeof value;
  }
}
