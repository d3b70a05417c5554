import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toShareLink } from "@human-plus/surface";
import { expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { runExample } from "../parts/readme-example.ts";
import { calls, says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { recordChild } from "./taps/child-recordings.ts";

const folder = join(import.meta.dirname, "../../packages/adapter-ag-ui");

/** A block of code of the README, by the word behind its language. */
function example(name: string): string {
  const text = readFileSync(join(folder, "README.md"), "utf8");
  const block = new RegExp(`\`\`\`ts ${name}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (block === undefined) throw new Error(`the README shows no ${name}`);
  return block;
}

test("the start with an HttpAgent runs as it stands", async () => {
  await using canvas = await startLiveCanvas();
  await using agent = await startScriptedAgent((_, turn) =>
    turn === 1
      ? calls("c1", "surface__canvas_read")
      : turn === 2
        ? calls("c2", "surface__canvas_move", { card: "budget", x: 40, y: 40 })
        : says("m", "All in line"),
  );
  const args = [agent.url, toShareLink(canvas.invitation)];
  using recorded = recordChild();
  const { code, output } = await runExample(folder, example("http-agent"), args, recorded.env);
  expect({ code, last: output.trim().split("\n").at(-1) }).toEqual({ code: 0, last: "All in line" });
  expect(output).toMatch(/^humanplus\.surface \{\n {2}surface: 'surface',\n {2}available: true/);
  expect(canvas.cards.get("budget")).toMatchObject({ x: 40, y: 40 });
  expect(recorded.take()).toBe(1);
  expect(agent.inputs[0]?.messages).toMatchObject([{ role: "user", content: "Line up the cards" }]);
});
