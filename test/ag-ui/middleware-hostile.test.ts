import { AbstractAgent, type BaseEvent, type RunAgentInput } from "@ag-ui/client";
import type { AgUiMessage } from "@human-plus/adapter-ag-ui";
import { SurfaceMiddleware, type SurfaceMiddlewareConfig } from "@human-plus/adapter-ag-ui/middleware";
import type { SurfaceSession } from "@human-plus/core";
import { Observable, type Subscription } from "rxjs";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { completeInput } from "./judge.ts";
import { calls, type Script, says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface } from "./parts/surface-runs.ts";
import { cutOff } from "./taps/recordings.ts";

/** A canvas on which counting is made at once, and renaming is for people to decide. */
async function startCanvas() {
  const canvas = await startLiveCanvas();
  const counted: string[] = [];
  canvas.surface.tool({
    name: "canvas_count",
    touches: "none",
    handler({ who }) {
      counted.push(String(who));
      return `counted ${counted.length}, ${"and much more ".repeat(2_500)}`;
    },
  });
  canvas.surface.tool({
    name: "canvas_rename",
    stage: true,
    touches: () => ["budget"],
    handler(_, call) {
      call.propose({ handle: "budget", kind: "updated" }, () => undefined, { summary: "rename" });
      return "proposed";
    },
  });
  return { ...canvas, counted };
}

test("calls that are delivered again are not made again, however much they answered", async () => {
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
  const ids = Array.from({ length: 10 }, (_, index) => `c${index}`);
  await using agent = await startScriptedAgent((_, turn) =>
    turn % 2 === 1 ? ids.flatMap((id) => calls(id, "surface__canvas_count", { who: id })) : says(`m${turn}`, "Done"),
  );
  const options = { url: agent.url, middleware };
  const first = await runWithSurface(options);
  const again = await runWithSurface({ ...options, input: { runId: "r2" } });
  expect(canvas.counted).toEqual(ids);
  expect(again.answers["c9"]).toBe(first.answers["c9"]);
  expect(again.answers["c0"]).toMatch(/was not made again/);
});

test("an agent whose run is given up on its first event, which came at once, is left", async () => {
  cutOff("the host gives the run up");
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  class Talker extends AbstractAgent {
    override run({ threadId, runId }: RunAgentInput): Observable<BaseEvent> {
      return new Observable((subscriber) => {
        subscriber.next({ type: "RUN_STARTED", threadId, runId } as unknown as BaseEvent);
        return leave;
      });
    }
  }
  const run = middleware.run(completeInput() as unknown as RunAgentInput, new Talker());
  let running: Subscription | undefined;
  running = run.subscribe(() => running?.unsubscribe());
  await left;
});

test("an open call of a tool of the page is the page's, though its name looks like ours", async () => {
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
  const call = { id: "p1", type: "function", function: { name: "surface__print", arguments: "{}" } } as const;
  const messages: AgUiMessage[] = [
    { id: "u1", role: "user", content: "Print it" },
    { id: "a1", role: "assistant", toolCalls: [call] },
  ];
  const tools = [{ name: "surface__print", description: "Prints the page", parameters: { type: "object" } }];
  await using agent = await startScriptedAgent(() => says("m", "It prints"));
  const { answers } = await runWithSurface({ url: agent.url, middleware, input: { messages, tools } });
  expect(answers).toEqual({});
  expect(agent.inputs[0]?.messages).toEqual(messages);
});

test("a call that a history holds twice is answered once", async () => {
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
  const call = { id: "h1", type: "function", function: { name: "surface__canvas_count", arguments: "{}" } } as const;
  const messages: AgUiMessage[] = [
    { id: "u1", role: "user", content: "Count" },
    { id: "a1", role: "assistant", toolCalls: [call, call] },
  ];
  await using agent = await startScriptedAgent(() => says("m", "Done"));
  const { types } = await runWithSurface({ url: agent.url, middleware, input: { messages } });
  expect(types.filter((type) => type === "TOOL_CALL_RESULT")).toHaveLength(1);
  expect(canvas.counted).toEqual([]);
});

describe("a proposal", () => {
  const rename: Script = (_, turn) => (turn === 1 ? calls("c1", "surface__canvas_rename") : says(`m${turn}`, "Done"));

  /** Runs until a person is asked. */
  async function untilAsked(config: SurfaceMiddlewareConfig) {
    const middleware = new SurfaceMiddleware(config);
    const agent = await startScriptedAgent(rename);
    const stopped = await runWithSurface({ url: agent.url, middleware });
    return {
      middleware,
      agent,
      stopped,
      async [Symbol.asyncDispose]() {
        middleware.close();
        await agent[Symbol.asyncDispose]();
      },
    };
  }

  test("that is to wait for longer than any calendar goes stops the run like any other", async () => {
    await using canvas = await startCanvas();
    const session = await canvas.join();
    const patient: SurfaceSession = {
      ...session,
      async call(...request) {
        const result = await session.call(...request);
        const { proposal } = result;
        return proposal === undefined
          ? result
          : { ...result, proposal: { ...proposal, expiresInMs: Number.MAX_SAFE_INTEGER } };
      },
    };
    await using asked = await untilAsked({ surface: patient, proposals: {} });
    expect(asked.stopped.pendingInterrupts).toHaveLength(1);
  });

  test("whose decision is carried by something that never answers lets the run go on, and says what is not known", async () => {
    await using canvas = await startCanvas();
    const decided: boolean[] = [];
    const faults: unknown[] = [];
    await using asked = await untilAsked({
      surface: await canvas.join(),
      callTimeoutMs: 500,
      proposals: {
        settleTimeoutMs: 1,
        decide({ approved }) {
          decided.push(approved);
          return new Promise(() => undefined);
        },
      },
      onError: ({ stage, error }) => void faults.push([stage, (error as { outcome?: unknown }).outcome]),
    });
    const { stopped, middleware, agent } = asked;
    const { answers, types } = await runWithSurface({
      url: agent.url,
      middleware,

      pendingInterrupts: stopped.pendingInterrupts,
      input: {
        runId: "r2",
        messages: stopped.messages.filter(({ role }) => role !== "activity"),
        resume: stopped.pendingInterrupts.map(({ id }) => ({
          interruptId: id,
          status: "resolved",
          payload: { approved: true },
        })),
      },
    });
    expect(answers["c1"]).toMatch(/could not be delivered. Whether anything was written is not known/);
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect([decided, faults]).toEqual([[true], [["decide", "unknown"]]]);
  });
});
