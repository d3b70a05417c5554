import { join } from "node:path";
import { expect, test } from "vitest";
import { parseDemoOptions } from "../src/demo-options.ts";
import { demoCommand, secretLink, testScenario, testWrongFlags } from "./parts/demo-command.ts";

const runDemo = demoCommand(join(import.meta.dirname, "../src/demo.ts"));

testScenario("people and agents share the canvas in a real browser", runDemo, [
  "the page lists Tidy among the participants",
  "You      drag Museums away, between two turns",
  "Tidy     leaves Museums alone: a person moved it",
  "without a refusal before",
  "You      drag Budget away, with the mouse",
  "is refused (surface_changed_under_you): nothing was written to Budget",
  "leaves Budget alone: a person moved it",
  "the dragged card lies where the person put it",
  "the agent went on around them",
  "and not one byte: no initialize, no tools/list",
  "a click deletes the card",
]);

testWrongFlags({
  runDemo,
  command: "npm run demo",
  parse: parseDemoOptions,
  wrong: [
    [["--join"], "--join needs a value"],
    [["--join", "--name", "Guest"], "--join needs a value"],
    [["--join", secretLink, "--headless"], "--join and --headless exclude each other"],
    [["--join", secretLink, "--port", "4000"], "--port belongs to pages that stay open: not to --join"],
    [["--join", secretLink, "--screenshots", "out"], "--screenshots belongs to --headless"],
    [["--name", "Guest"], "--name and --color belong to --join"],
  ],
});

test.each([
  [[], { mode: "serve", port: 0 }],
  [["--port", "4000"], { mode: "serve", port: 4000 }],
  [["--headless", "--screenshots", "out"], { mode: "headless", screenshots: "out" }],
  [["--join", secretLink, "--name=-x-"], { mode: "join", shareLink: secretLink, name: "-x-", color: "#b4451f" }],
  [["-h", "--join", secretLink], { mode: "help" }],
])("the flags %j are read", (args, options) => {
  expect(parseDemoOptions(args)).toEqual(options);
});

test("says clearly that a link leads nowhere", async () => {
  const { code, output } = await runDemo(["--join", "http://127.0.0.1:9/agent-relay/abcdefgh?token=0123456789abcdef"]);
  expect(output).toMatch(/^[a-z_]+: /m);
  expect(output).not.toContain("0123456789abcdef");
  expect(code).toBe(1);
});
