import { join } from "node:path";
import { demoCommand, testScenario, testWrongFlags } from "../../shared-canvas/test/parts/demo-command.ts";
import { parseDemoOptions } from "../src/demo-options.ts";

const runDemo = demoCommand(join(import.meta.dirname, "../src/demo.ts"));

testScenario("a person talks with an agent that works on the canvas, and decides, in a real browser", runDemo, [
  "the chat shows each step, and how it ended",
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
