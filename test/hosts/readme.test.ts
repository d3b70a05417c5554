import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { SurfaceSession } from "@human-plus/core";
import { expect, test } from "vitest";
import { startCanvas } from "./canvas.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { calls, type Script, says } from "./scripted-agent.ts";

/** An agent at an address, whose model is a script. */
async function serveAgent(script: Script) {
  const inputs: RunAgentInput[] = [];
  const server = createServer(async (request, response) => {
    const input = (await json(request)) as RunAgentInput;
    inputs.push(input);
    const ids = { threadId: input.threadId, runId: input.runId };
    const events = [{ type: "RUN_STARTED", ...ids }, ...script(input), { type: "RUN_FINISHED", ...ids }];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    inputs,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The README's start for the runtime, as it stands. */
async function readmeStart() {
  const readme = fileURLToPath(import.meta.resolve("@human-plus/adapter-ag-ui/package.json")).replace(
    /package\.json$/,
    "README.md",
  );
  const start = /```ts copilotkit\n([\s\S]*?)```/.exec(readFileSync(readme, "utf8"))?.[1] ?? "";
  const file = join(import.meta.dirname, `readme-start-${crypto.randomUUID()}.ts`);
  writeFileSync(file, start);
  try {
    return (await import(file)) as {
      createSurfaceRuntime(
        agentUrl: string,
        sessions: ReadonlyMap<string, SurfaceSession>,
      ): (request: Request) => Promise<Response>;
    };
  } finally {
    rmSync(file);
  }
}

test("the README's start gives whoever holds a ticket its surface, and nobody else any", async () => {
  await using canvas = await startCanvas();
  await using agent = await serveAgent(({ messages, tools }) => {
    if (messages.some(({ role }) => role === "tool")) return says("m2", "Done");
    return tools.length === 0 ? says("m1", "Hello") : calls("c1", "surface__canvas_move", { card: "budget", x: 5 });
  });
  const { createSurfaceRuntime } = await readmeStart();
  const handler = createSurfaceRuntime(agent.url, new Map([["ann's ticket", await canvas.join()]]));
  const run = async (ticket: string): Promise<BaseEvent[]> => {
    const body = {
      threadId: crypto.randomUUID(),
      runId: crypto.randomUUID(),
      messages: [{ id: "u1", role: "user" as const, content: "Go" }],
      state: {},
      tools: [],
      context: [],
      forwardedProps: { humanplus: { surface: { ticket } } },
    };
    const request = new Request("http://127.0.0.1/api/copilotkit/agent/default/run", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return await judgeAnswer(await handler(request), body);
  };

  const others = await run("a guess");
  expect(others.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(agent.inputs.map(({ tools }) => tools)).toEqual([[]]);
  expect(canvas.cards.get("budget")).toEqual({ x: 0 });

  const anns = await run("ann's ticket");
  expect(anns.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(anns.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({ toolCallId: "c1" });
  expect(canvas.cards.get("budget")).toEqual({ x: 5 });
  expect(JSON.stringify(agent.inputs)).not.toContain("ticket");
});
