import { join } from "node:path";
import { startRelay } from "@human-plus/relay";
import { expect, test } from "vitest";
import { readmeExample, runExample } from "../parts/readme-example.ts";

const folder = join(import.meta.dirname, "../../packages/conformance");

test("the example in the README of conformance runs as it stands", async () => {
  await using relay = await startRelay({ keepAliveMs: 200, surfaceGraceMs: 2_000 });
  const { code, output } = await runExample(folder, readmeExample(folder, "ts"), [relay.url]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/\d+ hold, 0 do not/) });
});
