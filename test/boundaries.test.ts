import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const biome = join(root, "node_modules/@biomejs/biome/bin/biome");

const restricted = "lint/style/noRestrictedImports";
const nodeModules = "lint/correctness/noNodejsModules";

type Case = readonly [file: string, imported: string, refusedBy?: string];

const allowed: readonly Case[] = [
  ["packages/core/src/sample.ts", "./other.ts"],
  ["packages/core/src/deep/sample.ts", "../gen/types.ts"],
  ["packages/core/test/sample.test.ts", "../src/index.ts"],
  ["packages/core/src/relay/sample.ts", "node:dns"],
  ["packages/core/src/relay.ts", "node:dns"],
  ["packages/transport-sse/src/sample.ts", "@human-plus/core"],
  ["packages/transport-sse/src/sample2.ts", "@human-plus/core/relay"],
  ["packages/transport-longpoll/src/sample.ts", "@human-plus/core/protocol"],
  ["packages/surface/src/sample.ts", "@human-plus/core/protocol"],
  ["packages/surface/test/sample.test.ts", "node:events"],
  ["packages/relay/src/sample.ts", "@human-plus/core/protocol"],
  ["packages/relay/src/sample2.ts", "node:http"],
  ["packages/conformance/src/sample.ts", "@human-plus/core"],
  ["packages/conformance/src/sample2.ts", "@human-plus/transport-sse"],
  ["packages/conformance/src/sample3.ts", "@human-plus/transport-longpoll"],
  ["packages/adapter-prism/src/sample.ts", "@human-plus/core"],
  ["packages/adapter-ag-ui/src/sample.ts", "@ag-ui/client"],
  ["examples/shared-canvas/sample.ts", "@human-plus/relay"],
  ["test/sample.test.ts", "@human-plus/surface"],
];

const refused: readonly Case[] = [
  ["packages/core/src/sample.ts", "@human-plus/transport-sse", restricted],
  ["packages/core/src/sample2.ts", "@human-plus/core", restricted],
  ["packages/core/src/sample3.ts", "node:fs", nodeModules],
  ["packages/core/src/sample4.ts", "../../relay/src/index.ts", restricted],
  ["packages/core/src/sample5.ts", "../../../tools/codegen/src/main.ts", restricted],
  ["packages/transport-sse/src/sample.ts", "@human-plus/transport-longpoll", restricted],
  ["packages/transport-longpoll/src/sample.ts", "@human-plus/transport-sse", restricted],
  ["packages/transport-longpoll/src/sample2.ts", "../../transport-sse/src/index.ts", restricted],
  ["packages/transport-longpoll/src/deep/sample.ts", "../../../core/src/index.ts", restricted],
  ["packages/surface/src/sample.ts", "@human-plus/core", restricted],
  ["packages/surface/src/sample2.ts", "@human-plus/core/relay", restricted],
  ["packages/surface/src/sample3.ts", "@human-plus/relay", restricted],
  ["packages/surface/src/sample4.ts", "node:crypto", nodeModules],
  ["packages/surface/src/sample5.ts", "../../../packages/core/src/index.ts", restricted],
  ["packages/relay/src/sample.ts", "@human-plus/core", restricted],
  ["packages/relay/src/sample2.ts", "@human-plus/core/relay", restricted],
  ["packages/relay/src/sample3.ts", "@human-plus/surface", restricted],
  ["packages/conformance/src/sample.ts", "@human-plus/relay", restricted],
  ["packages/conformance/src/sample2.ts", "@human-plus/adapter-prism", restricted],
  ["packages/adapter-prism/src/sample.ts", "@human-plus/adapter-ag-ui", restricted],
  ["packages/adapter-prism/src/sample2.ts", "@human-plus/transport-sse", restricted],
  ["packages/adapter-ag-ui/src/sample.ts", "@human-plus/surface", restricted],
  ["packages/adapter-ag-ui/src/sample2.ts", "@human-plus/codegen", restricted],
  ["examples/shared-canvas/sample.ts", "@human-plus/core/src/index.ts", restricted],
  ["examples/shared-canvas/sample2.ts", "../../packages/relay/src/index.ts", restricted],
  ["tools/codegen/src/sample.ts", "@human-plus/core", restricted],
  ["test/sample.test.ts", "@human-plus/codegen", restricted],
];

describe("import boundaries", () => {
  let directory: string;
  const found = new Map<string, Set<string>>();

  // One run over one tree: allowed and refused cases of the same name live in folders of their own.
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "boundaries-"));
    for (const [kind, cases] of Object.entries({ allowed, refused })) {
      const base = join(directory, kind);
      for (const [file, imported] of cases) write(join(base, file), `import "${imported}";\n`);
      const config = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
      write(join(base, "biome.json"), JSON.stringify({ ...config, vcs: { enabled: false } }));
      for (const [file, rules] of lint(base)) found.set(`${kind}/${file}`, rules);
    }
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.each(allowed)("%s may import %s", (file) => {
    expect([...(found.get(`allowed/${file}`) ?? [])]).toEqual([]);
  });

  test.each(refused)("%s may not import %s", (file, _imported, rule) => {
    expect([...(found.get(`refused/${file}`) ?? [])]).toContain(rule);
  });

  test("every package of the workspace has a boundary", () => {
    const config = readFileSync(join(root, "biome.json"), "utf8");
    const listed = execFileSync("git", ["ls-files", "packages/*/package.json"], { cwd: root, encoding: "utf8" });
    for (const manifest of listed.split("\n").filter(Boolean)) {
      expect(config, `biome.json has no override for ${dirname(manifest)}`).toContain(`"${dirname(manifest)}/**"`);
    }
  });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Rules that fired, by file. */
function lint(base: string): Map<string, Set<string>> {
  // `--only` would switch the rules on where the configuration has them off, so everything runs and the rest is dropped.
  const { stdout, stderr } = spawnSync(process.execPath, [biome, "lint", "--reporter=json", "--max-diagnostics=none"], {
    cwd: base,
    encoding: "utf8",
  });
  const report = parse(stdout, stderr);
  const rules = new Map<string, Set<string>>();
  for (const { category, location } of report.diagnostics) {
    if (category !== restricted && category !== nodeModules) continue;
    const file = typeof location.path === "string" ? location.path : location.path.file;
    rules.set(file, (rules.get(file) ?? new Set()).add(category));
  }
  return rules;
}

interface Report {
  diagnostics: { category: string; location: { path: string | { file: string } } }[];
}

function parse(stdout: string, stderr: string): Report {
  try {
    return JSON.parse(stdout);
  } catch (cause) {
    throw new Error(`biome gave no report:\n${stdout}\n${stderr}`, { cause });
  }
}
