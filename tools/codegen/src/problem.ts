/** One thing that is wrong with the contract, and where. */
export interface Problem {
  readonly file: string;
  /** JSON Pointer into the file. */
  readonly pointer: string;
  readonly message: string;
}

/** The contract cannot be used. Holds every problem that was found. */
export class SpecError extends Error {
  override readonly name = "SpecError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(({ file, pointer, message }) => `${file}#${pointer}: ${message}`).join("\n"), options);
    this.problems = problems;
  }
}

export function pointerTo(...keys: ReadonlyArray<string | number>): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
