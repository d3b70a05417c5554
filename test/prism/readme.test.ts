import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolRegistry } from "@human-plus/adapter-prism";
import { toShareLink } from "@human-plus/surface";
import { expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { readmeExample } from "../parts/readme-example.ts";
import { createScriptedProvider } from "./host/provider.ts";
import { type AgentSession, createAgentSession } from "./host/session.ts";

const folder = join(import.meta.dirname, "../../packages/adapter-prism");

/** What the example exports. */
interface Example {
  createSurfaceAgent(
    link: string,
    startSession: (tools: ToolRegistry) => AgentSession,
  ): Promise<{ run(task: string): Promise<unknown>; close(): Promise<void> }>;
}

test("the agent in the README is 30 lines that work, tell the model what people did, and nothing when nobody did", async () => {
  const example = readmeExample(folder, "ts");
  expect(example.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(30);
  await using canvas = await startLiveCanvas();
  const provider = createScriptedProvider([
    { calls: [{ id: "1", name: "surface_board_canvas_read" }] },
    { calls: [{ id: "2", name: "surface_board_canvas_move", arguments: { card: "travel", x: 40, y: 40 } }] },
    { text: "moved" },
    { text: "not moved" },
    { text: "nothing to do" },
  ]);
  const directory = mkdtempSync(join(folder, "readme-"));
  try {
    writeFileSync(join(directory, "example.ts"), example);
    const { createSurfaceAgent }: Example = await import(/* @vite-ignore */ join(directory, "example.ts"));
    const agent = await createSurfaceAgent(toShareLink(canvas.invitation), (tools) =>
      createAgentSession({ provider, tools }),
    );
    await agent.run("Move Travel to the right.");
    expect(canvas.cards.get("travel")).toMatchObject({ x: 40, y: 40 });
    canvas.personMoves("budget", 7, 7);
    await agent.run("Move Budget back.");
    await agent.run("Anything else?");
    await agent.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const said = provider.requests.map(({ messages }) =>
    messages.filter(({ role }) => role === "user").map(({ text }) => text),
  );
  expect(said[3]?.at(-2)).toMatch(/"budget": moved by a person[\s\S]*Leave alone/);
  expect(said[4]?.slice(said[3]?.length)).toEqual(["Anything else?"]);
});
