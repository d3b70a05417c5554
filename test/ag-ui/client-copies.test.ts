import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { assertGood } from "./judge.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const copies = [
  ["0.0.57", "ag-ui-client-0-0-57"],
  ["0.0.59", "ag-ui-client-0-0-59"],
  ["1.0.0", "@ag-ui/client"],
] as const;

/** What a user writes. */
const user = `
import { HttpAgent, type AbstractAgent } from "@ag-ui/client";
import { SurfaceMiddleware, type SurfaceMiddlewareConfig } from "@human-plus/adapter-ag-ui/middleware";
declare const config: SurfaceMiddlewareConfig;
export const agent: AbstractAgent = new HttpAgent({ url: "" }).use(new SurfaceMiddleware(config));
`;

describe.each(copies)("with @ag-ui/client %s installed", (version, copy) => {
  test("the middleware uses that copy and nothing that it does not have", async () => {
    const { stdout, stderr } = await run(
      process.execPath,
      [
        "--conditions=human-plus-source",
        "--disable-warning=HUMAN_PLUS_UNVERIFIED_EGRESS",
        join(import.meta.dirname, "parts/client-copy.ts"),
      ],
      { env: { ...process.env, AG_UI_CLIENT: copy } },
    );
    expect(stderr).toBe("");
    const got = JSON.parse(stdout);
    expect(got).toMatchObject({ version, history: ["user", "assistant", "assistant", "tool"] });
    await assertGood({ events: got.events });
  });

  test("types are those of that copy", { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(root, "test/ag-ui/types-"));
    try {
      writeFileSync(join(folder, "user.ts"), user);
      const tsconfig = {
        extends: "../../../tsconfig.base.json",
        compilerOptions: {
          noEmit: true,
          lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"],
          types: ["node"],
          paths: { "@ag-ui/client": [`../../../node_modules/${copy}/dist/index.d.mts`] },
        },
        files: ["user.ts"],
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
      const tsc = join(root, "node_modules/.bin/tsc");
      const output = await run(process.execPath, [tsc, "-p", folder]).catch((error: { stdout: string }) => error);
      // What is wrong elsewhere is for others to say.
      const ours = output.stdout
        .split("\n")
        .filter((line) => /^(packages\/adapter-ag-ui|test\/ag-ui)\/|^error/.test(line));
      expect(ours).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
