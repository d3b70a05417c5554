import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { specDirectory } from "./plain-schema.ts";

/** One file of spec/examples. */
export interface Example {
  readonly definition: string;
  /** Path below spec/examples, for the name of a test. */
  readonly file: string;
  readonly value: unknown;
  /** What reading it gives, where that is not the value itself. */
  readonly expected: unknown;
  readonly hasExpected: boolean;
}

const EXPECTED = ".expected.json";

/** The examples of one kind, each read afresh. */
export function readExamples(kind: "valid" | "invalid"): Example[] {
  const base = join(specDirectory, "examples", kind);
  return readdirSync(base).flatMap((definition) =>
    readdirSync(join(base, definition))
      .filter((name) => !name.endsWith(EXPECTED))
      .map((name) => {
        const path = join(base, definition, name);
        const expectedPath = path.replace(/\.json$/, EXPECTED);
        const hasExpected = existsSync(expectedPath);
        return {
          definition,
          file: `${kind}/${definition}/${name}`,
          value: readJson(path),
          expected: hasExpected ? readJson(expectedPath) : undefined,
          hasExpected,
        };
      }),
  );
}

/** Files of expectations that no example asks for. */
export function strayExpectations(): string[] {
  const base = join(specDirectory, "examples");
  return ["valid", "invalid"].flatMap((kind) =>
    readdirSync(join(base, kind)).flatMap((definition) =>
      readdirSync(join(base, kind, definition))
        .filter((name) => name.endsWith(EXPECTED))
        .filter((name) => !existsSync(join(base, kind, definition, name.replace(EXPECTED, ".json"))))
        .map((name) => `${kind}/${definition}/${name}`),
    ),
  );
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
