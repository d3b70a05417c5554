import {
  type AgUiMessage,
  composeProjections,
  createActivityFromToolProgressProjection,
  createMessagesFromSessionProjection,
  createStateFromStoreProjection,
  createSurfaceProjector,
  observeSession,
  observeSurface,
  type Projection,
} from "@human-plus/adapter-ag-ui";
import { type AgUiProblem, createAgUiHandler, fromPrism } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../../parts/live-canvas.ts";
import { assertGood, type JudgeOptions } from "../judge.ts";
import { type SessionEvent, sessionOf, talkAndCall } from "../parts/prism-session.ts";

/** Runs events of AG-UI, or of Prism, under a projection. */
async function runWith(
  projection: Projection,
  run: (step: number) => AsyncIterable<unknown>,
  options: JudgeOptions = {},
) {
  let step = 0;
  const handler = createAgUiHandler<object, unknown>({
    authorize: () => ({}),
    input: { project: ({ input }) => input },
    run: () => run(step++),
    projection,
  });
  return await assertGood({ handler }, options);
}

const prism = (events: readonly SessionEvent[] = talkAndCall()) => fromPrism(sessionOf(events).stream(""));
const say = (delta: string) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });

describe("state from a store", () => {
  test("is a snapshot, and then what changes, also while the run says nothing", async () => {
    const listeners = new Set<() => void>();
    let state: object = {};
    const set = (next: object) => {
      state = next;
      for (const listener of listeners) listener();
    };
    const projection = createStateFromStoreProjection({
      get: () => state,
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    });
    const { clients, events } = await runWith(projection, async function* () {
      set({ a: 1, list: [1, 2], "x/y~z": { deep: true } });
      yield say("a");
      await new Promise((resolve) => setImmediate(resolve));
      set({ b: 2, list: [1, 2, 3], "x/y~z": { deep: false } });
      await new Promise((resolve) => setImmediate(resolve));
      yield say("b");
      state = { a: 1 };
    });
    expect(events.filter(({ type }) => type === "STATE_SNAPSHOT").length).toBe(1);
    expect(events.filter(({ type }) => type === "STATE_DELTA").length).toBeGreaterThan(1);
    expect(clients.map((client) => client.state)).toEqual(clients.map(() => ({ a: 1 })));
    expect(listeners.size).toBe(0);
  });

  test("that cannot be shown is not, and the run goes on", async () => {
    for (const get of [
      () => {
        throw new Error("x");
      },
      () => ({ n: 1n }),
      () => ({ x: "x".repeat(70_000) }),
      () => [1],
      () => undefined,
    ]) {
      const { events } = await runWith(createStateFromStoreProjection({ get }), () => prism());
      expect(events.filter(({ type }) => String(type).startsWith("STATE_"))).toEqual([]);
      expect(events.at(-1)?.["type"]).toBe("RUN_FINISHED");
    }
  });

  test("stands beside what others put there", async () => {
    const { clients } = await runWith(createStateFromStoreProjection({ get: () => ({ ours: 1 }) }), async function* () {
      yield { type: "STATE_SNAPSHOT", snapshot: { theirs: 1 } };
      yield { type: "STATE_DELTA", delta: [{ op: "add", path: "/more", value: 2 }] };
    });
    for (const { state } of clients) expect(state).toMatchObject({ ours: 1, theirs: 1, more: 2 });
  });
});

describe("messages from a session", () => {
  const user: AgUiMessage = { id: "u1", role: "user", content: "Tidy up" };
  const answer = (id: string, content: string): AgUiMessage => ({ id, role: "assistant", content });

  test("come after each message, and not before the session has it", async () => {
    const transcripts = [[user], [user, answer("m1", "Hello")], [user, answer("m1", "Hello"), answer("m2", "Done")]];
    let asked = 0;
    const projection = createMessagesFromSessionProjection({
      getMessages: async () => transcripts[Math.min(asked++, 2)] ?? [],
    });
    const { events, clients } = await runWith(projection, () => prism(), { versions: ["1.0.0"] });
    const snapshots = events.filter(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect(snapshots.length).toBeGreaterThan(0);
    for (const { messages } of snapshots) expect(messages).toContainEqual(user);
    expect(clients[0]?.messages.filter(({ role }) => role !== "tool").map(({ id }) => id)).toEqual(
      expect.arrayContaining(["u1", "m1", "m2"]),
    );
  });

  test("that lack one of this stream are not sent: clients would drop it", async () => {
    const projection = createMessagesFromSessionProjection({ getMessages: () => [user] });
    const { events, clients } = await runWith(projection, () => prism());
    expect(events.filter(({ type }) => type === "MESSAGES_SNAPSHOT")).toEqual([]);
    for (const { messages } of clients)
      expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(["m1", "m2"]));
  });

  test("come at once to a client that has none, and the latest only", async () => {
    const all = Array.from({ length: 10 }, (_, index) => answer(`m${index}`, "x"));
    const projection = createMessagesFromSessionProjection({ getMessages: () => all, maxMessages: 3 });
    const { events } = await runWith(projection, async function* () {}, { input: { messages: [] } });
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    expect(events[1]?.["messages"]).toEqual(all.slice(-3));
  });

  test("that cannot be had do not end the run", async () => {
    const projection = createMessagesFromSessionProjection({ getMessages: () => Promise.reject(new Error("x")) });
    const { events } = await runWith(projection, () => prism(), { input: { messages: [] } });
    expect(events.at(-1)?.["type"]).toBe("RUN_FINISHED");
  });
});

describe("activity from the progress of tools", () => {
  const progress = (value: unknown) => ({
    type: "tool_execution_progress",
    toolCallId: "c1",
    name: "read",
    progress: value,
  });

  test("is one activity for each call, as far as the call is", async () => {
    const { clients, events } = await runWith(createActivityFromToolProgressProjection(), () =>
      prism([{ type: "agent_started" }, progress({ step: 1 }), progress({ step: 2 }), { type: "agent_finished" }]),
    );
    expect(events.filter(({ type }) => type === "ACTIVITY_SNAPSHOT").length).toBe(2);
    for (const { messages } of clients)
      expect(messages.filter(({ role }) => role === "activity")).toEqual([
        {
          id: "tool-progress-c1",
          role: "activity",
          activityType: "humanplus.tool-progress",
          content: { toolCallId: "c1", name: "read", progress: { step: 2 } },
        },
      ]);
  });

  test("of which one cannot be shown goes on with the next", async () => {
    const { clients } = await runWith(createActivityFromToolProgressProjection(), () =>
      prism([
        { type: "agent_started" },
        progress({ step: 1 }),
        progress({ step: 2, x: "x".repeat(70_000) }),
        progress(undefined),
        progress({ step: 3 }),
        { type: "agent_finished" },
      ]),
    );
    for (const { messages } of clients)
      expect(messages.find(({ role }) => role === "activity")?.content).toMatchObject({ progress: { step: 3 } });
  });

  test("shows what is projected, and no more", async () => {
    const projection = createActivityFromToolProgressProjection({
      activityType: "x.y",
      project: ({ progress: value }) => ({ step: (value as { step: number }).step }),
    });
    const { body } = await runWith(projection, () =>
      prism([progress({ step: 1, secret: "secret" }), { type: "agent_finished" }]),
    );
    expect(body).toContain('"step":1');
    expect(body).not.toContain("secret");
  });
});

describe("composed projections", () => {
  test("answer with the first of each callback, and speak all of them", async () => {
    const asked: string[] = [];
    const part = (name: string, more: Projection = {}): Projection => ({
      toolResult() {
        asked.push(name);
        return undefined;
      },
      open: () => ({
        take() {
          if (asked.includes(`open ${name}`)) return [];
          asked.push(`open ${name}`);
          return [{ type: "CUSTOM", name: `x.${name}`, value: 1 }];
        },
        saw: ({ type }) => void (type === "CUSTOM" && asked.push(`${name} saw`)),
        close: () => void asked.push(`close ${name}`),
      }),
      ...more,
    });
    const composed = composeProjections(part("a"), {}, part("b", { toolArguments: () => '{"b":1}' }));
    const { events } = await runWith(composed, () => prism(), { versions: ["1.0.0"] });
    expect(asked.filter((name) => name.length === 1)).toEqual(["a"]);
    expect(events.filter(({ type }) => type === "CUSTOM").map(({ name }) => name)).toEqual(["x.a", "x.b"]);
    expect(events.find(({ type }) => type === "TOOL_CALL_ARGS")?.["delta"]).toBe('{"b":1}');
    // Each hears the other once, and not itself.
    expect(asked.filter((name) => / saw$|^close/.test(name)).sort()).toEqual(["a saw", "b saw", "close a", "close b"]);
  });

  test.each(["open", "saw", "close"] as const)(
    "go on where one of them throws in %s, and are all closed",
    async (where) => {
      const heard = new Set<string>();
      const problems: AgUiProblem[] = [];
      const part = (name: string): Projection => ({
        open: () => ({
          take: () => [],
          saw: () => void heard.add(`${name} saw`),
          close: () => void heard.add(`${name} closed`),
        }),
      });
      const fail = () => {
        throw new Error(where);
      };
      const rude = { take: () => [], close: () => undefined, [where]: fail };
      const projection = composeProjections(part("a"), { open: where === "open" ? fail : () => rude }, part("b"));
      const handler = createAgUiHandler({
        authorize: () => ({}),
        run: () => prism(),
        projection,
        onProblem: (problem) => problems.push(problem),
      });
      await assertGood({ handler }, { versions: ["1.0.0"] });
      expect([...heard].sort()).toEqual(["a closed", "a saw", "b closed", "b saw"]);
      expect(problems.map(({ cause }) => (cause as Error).message)).toContain(where);
    },
  );

  test("keep to their own: what one may not say, and what one throws, ends nothing", async () => {
    const rude = (take: () => never[] | Array<{ type: string }>): Projection => ({
      open: () => ({ take: take as never, close: () => undefined }),
    });
    for (const projection of [
      rude(() => [{ type: "RUN_FINISHED" }, { type: "TEXT_MESSAGE_CONTENT" }]),
      rude(() => {
        throw new Error("x");
      }),
      {
        open: () => {
          throw new Error("x");
        },
      },
    ]) {
      const { events } = await runWith(projection, () => prism());
      expect(events.length).toBe(17);
    }
  });
});

describe("what happens on a surface", () => {
  test("is shown in the runs of an agent that works there, beside all the rest", async () => {
    await using canvas = await startLiveCanvas();
    using projector = createSurfaceProjector({ surface: observeSurface(canvas.surface), coalesceMs: 0, state: true });
    const projection = composeProjections(
      createStateFromStoreProjection({ get: () => ({ cards: canvas.cards.size }) }),
      projector,
      createActivityFromToolProgressProjection(),
    );
    const agent = await canvas.join();
    const { clients, events } = await runWith(projection, async function* () {
      yield say("Let me see");
      await agent.call("canvas_read");
      await agent.call("canvas_move", { card: "budget", x: 1, y: 2 });
      canvas.personMoves("travel", 5, 5);
      yield say(". Done");
    });
    for (const { messages, state } of clients) {
      const [activity] = messages.filter(({ role }) => role === "activity");
      expect(activity).toMatchObject({ id: "humanplus-surface-t", activityType: "humanplus.surface" });
      expect(state).toMatchObject({ cards: 2, humanplus: { surface: "surface" } });
    }
    expect(events.at(-1)?.["type"]).toBe("RUN_FINISHED");
  });

  test("that is down leaves an ordinary answer", async () => {
    const canvas = await startLiveCanvas();
    const session = await canvas.join();
    using projector = createSurfaceProjector({ surface: observeSession(session), coalesceMs: 0 });
    await canvas[Symbol.asyncDispose]();
    const { events } = await runWith(projector, () => prism());
    expect(events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").length).toBe(3);
  });
});
