import {
  type JsonObject,
  limits,
  methods,
  parseListToolsResult,
  safeParseInitializeResult,
} from "@human-plus/core/protocol";
import { describe, expect, test, vi } from "vitest";
import { createSurface } from "../src/index.ts";
import { createBoard } from "./board.ts";
import { feedOf, joinLocally, refusalOf, textOf } from "./local-agent.ts";

describe("the server", () => {
  test("answers initialize with the pinned revision, and ping", async () => {
    const agent = joinLocally(createBoard().surface);
    const { result } = await agent.request(methods.initialize, {
      protocolVersion: "2024-11-05",
      capabilities: {},
      clientInfo: {},
    });
    expect(safeParseInitializeResult(result)).toMatchObject({ ok: true, value: { protocolVersion: "2025-06-18" } });
    expect(await agent.request(methods.ping)).toMatchObject({ result: {} });
  });

  test("refuses methods it does not know, tools that are not there and parameters that are none", async () => {
    const agent = joinLocally(createBoard().surface);
    expect((await agent.request("resources/list")).error).toMatchObject({ code: -32601 });
    expect((await agent.call("nothing")).error).toMatchObject({ code: -32602 });
    expect((await agent.request(methods.callTool, { name: "read", arguments: [] })).error).toMatchObject({
      code: -32602,
    });
    expect((await agent.request(methods.callTool, { name: "read", _meta: { revision: "" } })).error).toMatchObject({
      code: -32602,
    });
  });

  test.each([
    "",
    "{",
    "[]",
    "7",
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    `${" ".repeat(limits.frameBytes)}{}`,
  ])("drops what is no frame and goes on", async (text) => {
    const agent = joinLocally(createBoard().surface);
    agent.raw(text);
    expect(await agent.request(methods.ping)).toMatchObject({ result: {} });
  });

  test("lists many tools in pages that fit a frame", async () => {
    const surface = createSurface({ id: "s", application: "test" });
    for (let index = 0; index < 60; index++)
      surface.tool({ name: `tool_${index}`, description: "x".repeat(16_000), handler: () => undefined });
    const agent = joinLocally(surface);
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { result } = await agent.request(methods.listTools, cursor === undefined ? {} : { cursor });
      const page = parseListToolsResult(result);
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(names).toEqual(["changes_since", ...Array.from({ length: 60 }, (_, index) => `tool_${index}`)]);
    expect(pages).toBeGreaterThan(1);
    expect((await agent.request(methods.listTools, { cursor: "1.7" })).error).toMatchObject({ code: -32602 });
  });

  test.each(["accept", "proposal_accept", "terminalConfirm", "REJECT", "a b", "", "ünï"])(
    "offers no tool named %j",
    (name) => {
      const { surface } = createBoard();
      expect(() => surface.tool({ name, handler: () => undefined })).toThrow(TypeError);
    },
  );

  test("offers no name twice, and tells agents when the list changes", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface);
    expect(() => surface.tool({ name: "read", handler: () => undefined })).toThrow(TypeError);
    expect(() => surface.tool({ name: "changes_since", handler: () => undefined })).toThrow(TypeError);
    const withdraw = surface.tool({ name: "extra", handler: () => "here" });
    await agent.notified(methods.toolsListChanged);
    expect(textOf(await agent.call("extra"))).toBe("here");
    withdraw();
    expect((await agent.call("extra")).error).toMatchObject({ code: -32602 });
  });

  test("refuses a result that no relay carries, and says that the call may have written", async () => {
    const { surface } = createBoard();
    surface.tool({ name: "huge", handler: () => "ü".repeat(limits.frameBytes / 2) });
    const answer = await joinLocally(surface).call("huge");
    expect(answer.result?.["isError"]).toBe(true);
    expect(textOf(answer)).toContain("larger than a relay carries");
    expect(answer.result?.["_meta"]).toHaveProperty("revision");
  });

  test.each([
    ["a bigint", () => ({ n: 1n })],
    [
      "a cycle",
      () => {
        const cycle: Record<string, unknown> = {};
        return Object.assign(cycle, { cycle });
      },
    ],
  ])("answers a result that is no JSON (%s), and says that the call may have written", async (_, data) => {
    const errors: unknown[][] = [];
    const { surface } = createBoard({ onError: (...heard) => void errors.push(heard) });
    surface.tool({
      name: "odd",
      touches: ["a"],
      handler(_args, call) {
        call.commit({ handle: "a", kind: "updated" }, () => undefined);
        return { content: "done", structuredContent: data() as JsonObject };
      },
    });
    const answer = await joinLocally(surface).call("odd");
    expect(answer.result).toMatchObject({ isError: true, _meta: { revision: surface.revision() } });
    expect(textOf(answer)).toMatch(/no JSON.*stays written/);
    expect(errors).toEqual([[expect.any(TypeError), "odd"]]);
  });

  test("answers where nobody asked to hear what its tools fail with: the console does", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const surface = createSurface({ id: "s", application: "test" });
    surface.tool({
      name: "fail",
      handler() {
        throw new Error("mine");
      },
    });
    expect(textOf(await joinLocally(surface).call("fail"))).toBe("The tool failed.");
    expect(said).toHaveBeenCalledWith(expect.objectContaining({ message: "mine" }), "fail");
    said.mockRestore();
  });

  test("answers although whoever hears of its errors fails, and lets people edit", async () => {
    const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
    let state = 0;
    const { surface } = createBoard({
      fingerprint: () => state,
      onError() {
        throw new Error("a broken log");
      },
    });
    state++;
    surface.commit({ handle: "a", kind: "updated" }, () => state++);
    expect(String(await thrown)).toContain("a broken log");
    expect(feedOf(await joinLocally(surface).call("changes_since")).rows).toEqual(["a updated human"]);
  });

  test("runs no more calls at a time than it may", async () => {
    const { surface } = createBoard({ maxConcurrentCalls: 2 });
    const finish: (() => void)[] = [];
    surface.tool({ name: "wait", handler: () => new Promise<string>((resolve) => finish.push(() => resolve("done"))) });
    const agent = joinLocally(surface);
    const first = agent.call("wait");
    const second = agent.call("wait");
    expect(textOf(await agent.call("wait"))).toContain("busy");
    for (const end of finish) end();
    expect(textOf(await first)).toBe("done");
    expect(textOf(await second)).toBe("done");
    expect(textOf(await agent.call("read"))).toContain("title");
  });
});

describe("a frame that is delivered twice", () => {
  test("writes once while the call runs", async () => {
    const { surface } = createBoard();
    let runs = 0;
    let finish = () => {};
    surface.tool({
      name: "slow",
      touches: [],
      handler: async (_, call) => {
        runs++;
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return call.commit({ handle: "a", kind: "moved" }, () => "done");
      },
    });
    const agent = joinLocally(surface, "tidy");
    void agent.call("slow", {}, {}, "id-1");
    const twin = agent.call("slow", {}, {}, "id-1");
    finish();
    expect(textOf(await twin)).toBe("done");
    expect(runs).toBe(1);
    expect(feedOf(await agent.call("changes_since")).rows).toHaveLength(1);
  });

  test("writes once after the call has answered", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    expect(textOf(await agent.call("rename", { card: "a", title: "T" }, {}, "id-1"))).toBe("done");
    const again = await agent.call("rename", { card: "a", title: "T" }, {}, "id-1");
    expect(again.error).toMatchObject({ code: -32600 });
    expect(refusalOf(again)).toBeUndefined();
    expect(feedOf(await agent.call("changes_since")).rows).toHaveLength(1);
  });

  test("is another call if it is another frame, or of another participant", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "a", title: "1" }, {}, 1);
    expect(textOf(await agent.call("rename", { card: "a", title: "2" }, {}, 1))).toBe("done");
    expect(textOf(await joinLocally(surface, "rival").call("rename", { card: "a", title: "1" }, {}, 1))).toBe("done");
    expect(textOf(await agent.call("read", {}, {}, 2))).toBe(textOf(await agent.call("read", {}, {}, 2)));
  });
});

describe("cancelling", () => {
  test("aborts the signal, and nothing can be committed afterwards", async () => {
    const { surface, cards, errors } = createBoard();
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    surface.tool({
      name: "slow",
      async handler(_, call) {
        const aborted = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
        started();
        await aborted;
        call.commit({ handle: "a", kind: "updated" }, () => cards.set("a", { title: "late" }));
        return "done";
      },
    });
    const agent = joinLocally(surface, "tidy");
    const answer = agent.call("slow", {}, {}, "id-1");
    await running;
    agent.notify(methods.cancelled, { requestId: "id-2" });
    agent.notify(methods.cancelled, { requestId: "id-1", reason: "no longer needed" });
    expect((await answer).error).toMatchObject({ code: -32800 });
    expect(cards.get("a")?.title).toBe("A");
    expect(errors).toEqual([]);
  });

  test("aborts what still runs when the channel closes", async () => {
    const { surface } = createBoard();
    let signal: AbortSignal | undefined;
    surface.tool({
      name: "slow",
      handler: (_, call) => {
        signal = call.signal;
        return new Promise(() => {});
      },
    });
    const agent = joinLocally(surface);
    void agent.call("slow");
    agent.leave();
    expect(signal?.aborted).toBe(true);
  });
});

describe("progress", () => {
  test("goes to a call that asked for it, growing, and ends with the answer", async () => {
    const { surface } = createBoard();
    let late = () => {};
    surface.tool({
      name: "steps",
      handler: (_, call) => {
        for (const step of [1, 2, 2, 1, 3]) call.progress(step, { total: 3 });
        late = () => call.progress(4);
        return "done";
      },
    });
    const agent = joinLocally(surface);
    await agent.call("steps", {}, { progressToken: "p" });
    late();
    await agent.call("steps");
    const steps = agent.notifications
      .filter(({ method }) => method === methods.progress)
      .map(({ params }) => params as JsonObject);
    expect(steps).toEqual([1, 2, 3].map((progress) => ({ progressToken: "p", progress, total: 3 })));
  });
});
