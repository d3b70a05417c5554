import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { defaultServerConditions } from "vite";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { judgeStreams } from "./test/ag-ui/taps/vitest-plugin.ts";
import { createTotalReporter } from "./tools/test-summary/total-reporter.ts";

const source = "human-plus-source";
const root = import.meta.dirname;

/** Packages import each other by name; the condition resolves those names to sources, so no test waits for a build. */
function project(name: string, directory: string, include: string[], exclude: string[] = []): TestProjectConfiguration {
  return {
    plugins: [judgeStreams()],
    resolve: { conditions: [source] },
    ssr: { resolve: { conditions: [source, ...defaultServerConditions] } },
    test: {
      name,
      root: join(root, directory),
      include,
      exclude: ["**/node_modules/**", ...exclude],
      environment: "node",
      // Tests use relays of this machine, and need not be told so each time.
      execArgv: [`--conditions=${source}`, "--disable-warning=HUMAN_PLUS_UNVERIFIED_EGRESS"],
      restoreMocks: true,
      // A ceiling for hung tests on busy machines; tests wait for events, so it costs nothing.
      testTimeout: 30_000,
      hookTimeout: 30_000,
    },
  };
}

function workspaces(parent: string): TestProjectConfiguration[] {
  if (!existsSync(join(root, parent))) return [];
  return readdirSync(join(root, parent))
    .filter((name) => existsSync(join(root, parent, name, "package.json")))
    .map((name) => project(basename(name), join(parent, name), ["{src,test}/**/*.test.ts"]));
}

export default defineConfig({
  test: {
    projects: [
      // The large hosts are not in the default install: `npm run test:hosts`.
      project("workspace", ".", ["test/**/*.test.ts"], ["test/hosts/**"]),
      ...workspaces("packages"),
      ...workspaces("tools"),
      ...workspaces("examples"),
    ],
    reporters: ["default", createTotalReporter()],
    passWithNoTests: false,
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/gen/**", "**/*.test.ts"],
      reporter: ["text-summary", "lcov"],
    },
  },
});
