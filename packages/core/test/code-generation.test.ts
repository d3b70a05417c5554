import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readExamples } from "./contract/example-files.ts";
import { definitions } from "./contract/plain-schema.ts";

const core = join(import.meta.dirname, "..");

// A strict Content-Security-Policy forbids the same as the flag below: eval and new Function.
const script = `
  import * as protocol from "@human-plus/core/protocol";
  const { definitions, valid, invalid } = JSON.parse(process.env.EXAMPLES);
  let generates = true;
  try { new Function("return 1")(); } catch { generates = false; }
  const parsed = [];
  for (const name of definitions) {
    const safeParse = protocol["safeParse" + name];
    const results = [safeParse(valid[name]), safeParse(invalid[name])];
    if (results[0].ok && !results[1].ok && protocol["parse" + name](valid[name]) !== undefined) parsed.push(name);
  }
  console.log(JSON.stringify({ generates, parsed }));
`;

describe("code generation from strings", () => {
  test("is needed by no parser", () => {
    const names = Object.keys(definitions);
    const first = (kind: "valid" | "invalid") => {
      const examples = readExamples(kind);
      return Object.fromEntries(
        names.map((name) => [name, examples.find(({ definition }) => definition === name)?.value]),
      );
    };
    const examples = { definitions: names, valid: first("valid"), invalid: first("invalid") };
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        "--conditions=human-plus-source",
        "--disallow-code-generation-from-strings",
        "--input-type=module",
        "-e",
        script,
      ],
      { cwd: core, env: { ...process.env, EXAMPLES: JSON.stringify(examples), NODE_OPTIONS: "" }, encoding: "utf8" },
    );
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ generates: false, parsed: names });
  });
});
