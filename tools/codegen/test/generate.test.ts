import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { findDrift, printContract, writeFiles } from "../src/generate.ts";
import { copyContract, editContract, type Loose, scratchDirectory, specDirectory } from "./contract.ts";

const root = join(import.meta.dirname, "../../..");
const coreSource = join(root, "packages/core/src");
const formatConfig = join(import.meta.dirname, "../generated-format.json");
const main = join(import.meta.dirname, "../src/main.ts");

/** What the contract generates as it is. */
let current: Map<string, string>;

beforeAll(async () => {
  // As npm scripts have it: the generator calls the formatter by its name.
  process.env["PATH"] = join(root, "node_modules/.bin") + delimiter + process.env["PATH"];
  current = await printContract({ specDirectory, formatConfig });
});

describe("a change of spec/ is all it takes", () => {
  test("a new alias, word, field and relay error code reach parsers, types and tables", async () => {
    using scratch = scratchDirectory();
    const spec = join(scratch.path, "spec");
    const core = join(scratch.path, "core");
    mkdirSync(spec);
    copyContract(spec);
    cpSync(coreSource, core, { recursive: true, filter: (path) => !path.startsWith(join(coreSource, "gen")) });
    editContract(spec, {
      surface: (s) => {
        s.ChangeRow.properties.handle["x-read-from"].push("slug");
        s.ChangeActor["x-vocabulary"].human.push("visitor");
        s.Activity.properties.mood = { description: "How it goes.", type: "string", maxLength: 8 };
      },
      relay: (r) => {
        r["x-relay-errors"].unshift({
          status: 429,
          code: "too_many_tabs",
          error: "relay_busy",
          outcome: "not_applied",
          retryable: true,
          sentByRelay: true,
          description: "The page is open too often.",
        });
      },
    });
    await writeFiles(await printContract({ specDirectory: spec, formatConfig }), join(core, "gen"));

    const row = { slug: "title", change: "updated", by: " Visitor " };
    const before: Loose = await import(pathToFileURL(join(coreSource, "gen/index.ts")).href);
    const after: Loose = await import(pathToFileURL(join(core, "gen/index.ts")).href);
    expect(before.safeParseChangeRow(row)).toMatchObject({ ok: false });
    expect(after.parseChangeRow(row)).toEqual({ handle: "title", kind: "updated", actor: "human" });

    const activity = {
      actor: { id: "agent-9c", name: "Ada", type: "agent" },
      surfaceId: "board",
      sessionId: "canvas-7f3a",
      action: "looks around",
      priority: "normal",
    };
    expect(after.safeParseActivity({ ...activity, mood: "fine" })).toMatchObject({ ok: true });
    expect(after.safeParseActivity({ ...activity, mood: "excellent" })).toMatchObject({ ok: false });
    expect(readFileSync(join(core, "gen/types.ts"), "utf8")).toContain(
      "  /** How it goes. */\n  mood?: string | undefined;\n",
    );

    expect(before.relayErrorStatus).not.toHaveProperty("too_many_tabs");
    expect(after.relayErrorStatus.too_many_tabs).toBe(429);
    expect(after.relayErrors[0]).toEqual({
      status: 429,
      code: "too_many_tabs",
      error: "relay_busy",
      outcome: "not_applied",
      retryable: true,
      sentByRelay: true,
    });
  });
});

describe("generated files and the contract agree", () => {
  test("the same contract gives the same bytes", async () => {
    expect(current.size).toBeGreaterThan(0);
    expect([...(await printContract({ specDirectory, formatConfig }))]).toEqual([...current]);
  });

  test("--check passes, then names files that were edited, left over or not regenerated, and says what to do", async () => {
    using scratch = scratchDirectory();
    const { spec, out, check } = await generated(scratch.path);
    expect(check()).toMatchObject({ status: 0, stderr: "" });

    appendFileSync(join(out, "routes.ts"), "// by hand\n");
    appendFileSync(join(out, "extra.ts"), "");
    editContract(spec, { surface: (s) => s.ChangeRow.properties.handle["x-read-from"].push("slug") });
    const { status, stderr } = check();
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /is not what spec\/ generates: extra\.ts, parsers\.ts, routes\.ts\.\nRun `npm run generate`/,
    );
  });

  test("writing brings back what was generated, and nothing else", async () => {
    using scratch = scratchDirectory();
    const { out } = await generated(scratch.path);
    expect(await writeFiles(current, out)).toEqual([]);
    appendFileSync(join(out, "routes.ts"), "// by hand\n");
    appendFileSync(join(out, "extra.ts"), "");
    expect(await writeFiles(current, out)).toEqual(["extra.ts", "routes.ts"]);
    expect(readFileSync(join(out, "routes.ts"), "utf8")).toBe(current.get("routes.ts"));
    expect(await findDrift(current, out)).toEqual([]);
  });

  test("a bad contract is told in one line, without a stack", async () => {
    using scratch = scratchDirectory();
    const { spec, check } = await generated(scratch.path);
    editContract(spec, { surface: (s) => (s.Revision["x-max-bytes"] = "revisionSize") });
    expect(check()).toMatchObject({
      status: 1,
      stderr: "surface.schema.json#/definitions/Revision/x-max-bytes: there is no limit named revisionSize\n",
    });
  });
});

/** A copy of the contract, what it generates, and the command that compares the two. */
async function generated(directory: string) {
  const spec = join(directory, "spec");
  const out = join(directory, "gen");
  mkdirSync(spec);
  copyContract(spec);
  await writeFiles(current, out);
  const check = () =>
    spawnSync(process.execPath, [main, "--check", "--spec", spec, "--out", out], { encoding: "utf8" });
  return { spec, out, check };
}
