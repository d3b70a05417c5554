import { join } from "node:path";
import { expect } from "vitest";
import { recordChild } from "../../../test/ag-ui/taps/child-recordings.ts";
import { cutOff } from "../../../test/ag-ui/taps/recordings.ts";
import {
  type DemoCommand,
  demoCommand,
  testScenario,
  testWrongFlags,
} from "../../shared-canvas/test/parts/demo-command.ts";
import { parseDemoOptions } from "../src/demo-options.ts";

const command = demoCommand(join(import.meta.dirname, "../src/demo.ts"));

/** What the agent streams to the browser is judged at the end of the test. */
const runDemo: DemoCommand = async (args, env) => {
  using recorded = recordChild();
  const ended = await command(args, { ...recorded.env, ...env });
  const streams = recorded.take();
  if (args.includes("--headless") && ended.code === 0) {
    expect(streams).toBeGreaterThan(5);
    cutOff("a person presses Stop in the middle of a run");
  }
  return ended;
};

testScenario("a person talks with an agent that works on the canvas, and decides, in a real browser", runDemo, [
  "the chat shows each move, and how it ended",
  "and after each refusal what Tidy looked at",
  "the dragged card lies where the person put it",
  "the surface's activity shows it in the chat",
  "it was deleted once",
  "the chat goes on by itself",
  "and nothing was proposed afterwards",
  "the browser had nothing to complain about",
]);

testWrongFlags({
  runDemo,
  command: "npm run demo:ag-ui",
  parse: parseDemoOptions,
  wrong: [[["--join", "LINK"], "--join is not known"]],
});
