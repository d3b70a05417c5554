import { type AgUiHandler, createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { assertGood, type JudgeOptions } from "../judge.ts";
import { EventStore } from "../parts/event-source.ts";
import { type SessionEvent, talkAndCall } from "../parts/prism-session.ts";
import { serveHandler } from "../parts/serve.ts";
import { readSseBody } from "../parts/sse-frames.ts";

/** A host that keeps the events of one run for each owner. */
function createHost(limits: object = {}) {
  const store = new EventStore();
  const runOf = (tenantId: string, runId = "r") => ({ ownership: { tenantId }, sessionId: "s", runId });
  const handler = createAgUiHandler<string>({
    authorize: ({ request }) => request.headers.get("authorization") ?? undefined,
    // biome-ignore lint/correctness/useYield: nothing begins a run here
    run: async function* () {
      throw new Error("a run began");
    },
    replay: {
      source: store,
      resolveRun: ({ authorization, runId }) => (runId === "none" ? undefined : runOf(authorization, runId)),
    },
    limits,
  });
  return { store, handler, alice: runOf("alice") };
}

const headers = { authorization: "alice" };

function request(query: string, more: object = {}) {
  return new Request(`http://agent.example/${query}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ threadId: "t", runId: "r", messages: [], ...more }),
  });
}

/** Reads a run again through the real clients. */
async function read(handler: AgUiHandler, query: string, options: JudgeOptions = {}) {
  await using server = await serveHandler(handler);
  return await assertGood({ url: `${server.url}${query}` }, { headers, ...options });
}

type Mark = { readonly eventId: string; readonly cursor: string };
const markOf = (event: Readonly<Record<string, unknown>> | undefined) =>
  (event?.["metadata"] as { humanplus?: Mark } | undefined)?.humanplus;
const bare = (events: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  events.map(({ metadata: _, ...event }) => event).filter(({ name }) => name !== "humanplus.cursor");

describe("a run is read again", () => {
  test("from its beginning, as its clients saw it, and each event can be told from the others", async () => {
    const { store, handler, alice } = createHost();
    store.append(alice, ...talkAndCall());
    const { events } = await read(handler, "?cursor=&follow=false");
    expect(bare(events).map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    const ids = events.slice(1).map((event) => markOf(event)?.eventId);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await read(handler, "?cursor=&follow=false")).events).toEqual(events);
  });

  test.each([1, 2, 3, 5])("in pages of %d, which together are the run", async (maxReplayEvents) => {
    const { store, handler, alice } = createHost({ maxReplayEvents });
    store.append(alice, ...talkAndCall(["one ", "two ", "three"]));
    const texts = new Map<string, string>();
    const seen = new Set<string>();
    let cursor = "";
    for (let pages = 0; pages < 30; pages++) {
      const messages = [
        { id: "u1", role: "user" as const, content: "Tidy up" },
        ...(seen.has("c1")
          ? [
              {
                id: "c1",
                role: "assistant" as const,
                toolCalls: [{ id: "c1", type: "function" as const, function: { name: "read_board", arguments: "{}" } }],
              },
            ]
          : []),
      ];
      const { events } = await read(handler, `?follow=false&cursor=${cursor}`, { input: { messages } });
      for (const { type, messageId, delta, toolCallId } of events) {
        if (type === "TEXT_MESSAGE_CONTENT") texts.set(String(messageId), (texts.get(String(messageId)) ?? "") + delta);
        if (type === "TOOL_CALL_START") {
          expect(seen.has(String(toolCallId))).toBe(false);
          seen.add(String(toolCallId));
        }
        if (type === "TOOL_CALL_RESULT") seen.add("result");
      }
      const end = events.at(-1) as { outcome?: { type: string }; result?: { complete: boolean; cursor: string } };
      expect(end).toMatchObject({ type: "RUN_FINISHED" });
      if (end.outcome !== undefined) break;
      expect(end.result?.complete).toBe(false);
      cursor = end.result?.cursor ?? "";
    }
    expect(Object.fromEntries(texts)).toEqual({ m1: "one two three", m2: "Done" });
    expect([...seen]).toEqual(["c1", "result"]);
  });

  test("from a cursor in the middle of a text: it goes on under its id", async () => {
    const { store, handler, alice } = createHost();
    store.append(alice, ...talkAndCall(["one ", "two"]));
    const { events } = await read(handler, "?cursor=&follow=false");
    const at = markOf(events.find(({ delta }) => delta === "one "))?.cursor;
    const rest = await read(handler, `?cursor=${at}&follow=false`);
    expect(bare(rest.events).slice(0, 4)).toEqual([
      expect.objectContaining({ type: "RUN_STARTED" }),
      { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "two" },
      { type: "TEXT_MESSAGE_END", messageId: "m1" },
    ]);
  });

  test("from the cursor of an event that others of its record followed: they come again, so that none is lost", async () => {
    const { store, handler, alice } = createHost();
    store.append(alice, ...talkAndCall());
    const { events } = await read(handler, "?cursor=&follow=false", { versions: ["1.0.0"] });
    const [first, second, third] = events.filter(({ type }) => String(type).startsWith("TOOL_CALL_")).map(markOf);
    expect([first, second, third].map((mark) => mark?.eventId)).toEqual(["e10", "e10.1", "e10.2"]);
    expect(first?.cursor).toBe(second?.cursor);
    expect(first?.cursor).not.toBe(third?.cursor);
    // A page that kept nothing of what it saw, or the call.
    const kept = { id: "c1", type: "function", function: { name: "read_board", arguments: "{}" } };
    const typesAfter = async (mark: Mark | undefined, toolCalls: readonly object[] = []) => {
      const messages = toolCalls.length > 0 ? [{ id: "c1", role: "assistant", toolCalls }] : [];
      const response = await handler(request(`?cursor=${mark?.cursor}&follow=false`, { messages }));
      return bare(readSseBody(await response.text()).events as Array<{ type: string }>).map(({ type }) => type);
    };
    expect((await typesAfter(first)).slice(1, 3)).toEqual(["TOOL_CALL_START", "TOOL_CALL_ARGS"]);
    expect((await typesAfter(third, [kept])).slice(1, 3)).toEqual(["TOOL_CALL_RESULT", "STEP_STARTED"]);
  });

  test("and followed while it goes on, to its end", async () => {
    const { store, handler, alice } = createHost();
    const all = talkAndCall();
    store.append(alice, ...all.slice(0, 6));
    const reading = read(handler, "?cursor=", { versions: ["1.0.0"] });
    for (const event of all.slice(6)) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      store.append(alice, event);
    }
    const { events } = await reading;
    expect(bare(events).at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    expect(events.filter(({ type }) => type === "TEXT_MESSAGE_START").length).toBe(2);
  });

  test("and shows an interrupt only if nobody has decided yet", async () => {
    const suspended = (version: number): SessionEvent => ({
      type: "agent_suspended",
      version,
      interruption: { kind: "tool_approval", reason: "write", toolCallId: "c1", pendingDecisions: [] },
    });
    const { store, handler, alice } = createHost();
    store.append(alice, { type: "agent_started" }, suspended(1), { type: "agent_resumed", version: 2 }, suspended(2));
    for (const query of ["?cursor=&follow=false", "?cursor="]) {
      const { events } = await read(handler, query);
      expect(events.at(-1)).toMatchObject({
        type: "RUN_FINISHED",
        outcome: { type: "interrupt", interrupts: [{ id: "r:2" }] },
      });
      expect(events.filter(({ name }) => name === "humanplus.run").map(({ value }) => value)).toEqual([
        { status: "suspended", version: 1 },
        { status: "running", version: 2 },
        { status: "suspended", version: 2 },
      ]);
    }
  });

  test("with an error, a denial, or a limit at its end", async () => {
    const ends: ReadonlyArray<readonly [SessionEvent, string]> = [
      [{ type: "error", error: { message: "no", code: "X" } }, "X"],
      [{ type: "agent_denied", version: 2, interruption: {} }, "denied"],
      [{ type: "run_limit_exceeded", breach: {} }, "HUMAN_PLUS_AG_UI_LIMIT"],
    ];
    for (const [end, code] of ends) {
      const { store, handler, alice } = createHost();
      store.append(alice, { type: "agent_started" }, end);
      const { events } = await read(handler, "?cursor=");
      const { code: said, result } = events.at(-1) as { code?: string; result?: { status: string } };
      expect(said ?? result?.status).toBe(code);
    }
  });
});

test.each<readonly [string, unknown, unknown]>([
  ["a cursor that is none", "e", 10n],
  ["no cursor", "e", undefined],
  ["a cursor without end", "e", "x".repeat(300_000)],
  ["an id that is none", 10n, "c"],
  ["an id without end", "x".repeat(300_000), "c"],
])("a source that gives %s ends the stream with one error", async (_, id, cursor) => {
  for (const event of [{ type: "agent_started" }, { type: "agent_finished" }]) {
    const items = [{ record: { id, event }, cursor }] as never;
    const handler = createAgUiHandler({
      authorize: () => ({}),
      run: async function* () {},
      replay: {
        source: { page: async () => ({ items, terminal: true }) },
        resolveRun: () => ({ sessionId: "s", runId: "r", ownership: {} }),
      },
    });
    const { events } = await read(handler, "?cursor=", { versions: ["1.0.0"] });
    expect(events.map(({ type, code }) => code ?? type)).toEqual(["RUN_STARTED", "HUMAN_PLUS_AG_UI_REPLAY"]);
  }
});

describe("a cursor", () => {
  /** The cursor behind the first event of alice's run. */
  async function cursorOf({ store, handler, alice }: ReturnType<typeof createHost>) {
    store.append(alice, ...talkAndCall());
    return markOf((await read(handler, "?cursor=&follow=false", { versions: ["1.0.0"] })).events[1])?.cursor ?? "";
  }

  test("of somebody else shows nothing, and says no more than one that is forged", async () => {
    const host = createHost();
    const cursor = await cursorOf(host);
    host.store.append({ ...host.alice, ownership: { tenantId: "mallory" } }, { type: "agent_started" });
    const forged = Buffer.from(JSON.stringify(["1.forged", 0, 0, false, ""])).toString("base64url");
    const bodies: string[] = [];
    for (const each of [cursor, forged]) {
      const verdict = await read(host.handler, `?cursor=${each}`, {
        headers: { authorization: "mallory" },
        input: { forwardedProps: { ownership: { tenantId: "alice" }, tenantId: "alice" } },
      });
      expect(verdict.events.map(({ type, code }) => code ?? type)).toEqual(["RUN_STARTED", "HUMAN_PLUS_AG_UI_REPLAY"]);
      bodies.push(verdict.body);
    }
    expect(bodies[0]).toBe(bodies[1]);
    expect(bodies[0]).not.toMatch(/secret|budget|Hel/);
  });

  test.each([
    ["no base64", "%C3%A9"],
    ["no JSON", "AAAA"],
    ["another list", Buffer.from('["x"]').toString("base64url")],
    ["ids that are none", Buffer.from('["1.x",0,0,false,"<b>"]').toString("base64url")],
    ["counts that are none", Buffer.from('["1.x",-1,0,false,""]').toString("base64url")],
  ])("with %s is refused", async (_, cursor) => {
    const { handler } = createHost();
    const response = await handler(request(`?cursor=${cursor}`));
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: "HUMAN_PLUS_AG_UI_INPUT", message: "cursor is invalid" } },
    ]);
  });

  test("that is too long is refused, and so is a run that is not there", async () => {
    const { handler } = createHost();
    expect((await handler(request(`?cursor=${"A".repeat(9_000)}`))).status).toBe(413);
    expect((await handler(request("?cursor=", { parentRunId: "none" }))).status).toBe(403);
  });
});
