import { join } from "node:path";
import { toShareLink } from "@human-plus/surface";
import { expect, test } from "vitest";
import { startLiveCanvas } from "./parts/live-canvas.ts";
import { readmeExample, runExample } from "./parts/readme-example.ts";

const folder = join(import.meta.dirname, "../packages/core");

test("the example in the README of core runs as it stands", async () => {
  await using canvas = await startLiveCanvas();
  const { code, output } = await runExample(folder, readmeExample(folder, "ts"), [toShareLink(canvas.invitation)]);
  expect({ code, output }).toEqual({ code: 0, output: "true\n []\nmoved []\n" });
  expect(canvas.cards.get("budget")).toMatchObject({ x: 40, y: 40 });
});
