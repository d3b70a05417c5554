import type { AgUiInterrupt } from "@human-plus/adapter-ag-ui";
import { type AgUiHandlerOptions, createAgUiHandler, fromPrism } from "@human-plus/adapter-ag-ui/handler";
import { expect, test } from "vitest";
import { assertGood, completeInput } from "../judge.ts";
import { DurableRuns } from "../parts/durable-runs.ts";
import { EventStore } from "../parts/event-source.ts";
import { createSession, type SessionEvent, sessionOf, talkAndCall } from "../parts/prism-session.ts";
import { readSseBody } from "../parts/sse-frames.ts";

// What the handler of Prism's own package does to clients, each of it here the other way round.

const started: SessionEvent = { type: "agent_started" };
const finished: SessionEvent = { type: "agent_finished" };
const delta = (text: string): SessionEvent => ({ type: "message_delta", content: { type: "text", text } });

const handlerOf = (session: ReturnType<typeof createSession>, options: Partial<AgUiHandlerOptions<object>> = {}) =>
  createAgUiHandler<object>({
    authorize: () => ({}),
    run: ({ input, signal }) => fromPrism(session.stream(input, { signal })),
    ...options,
  });

const request = () =>
  new Request("http://agent.example/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(completeInput()),
  });

test("1. a run that fails says so once, and clients see why", async () => {
  const handler = handlerOf(
    sessionOf([started, delta("Let me")], Object.assign(new Error("no tokens left"), { code: "QUOTA" })),
  );
  const { clients, events } = await assertGood({ handler });
  expect(clients.map(({ runError, rejection }) => ({ runError, rejection }))).toEqual(
    Array.from({ length: 3 }, () => ({ runError: { message: "no tokens left", code: "QUOTA" }, rejection: undefined })),
  );
  expect(events.filter(({ type }) => type === "RUN_ERROR").length).toBe(1);
});

test("2. a failure of a provider that is tried again ends nothing", async () => {
  const metadata = { providerId: "p", model: "m" };
  const handler = handlerOf(
    sessionOf([
      started,
      { type: "turn_started", turn: 1 },
      delta("Let"),
      { type: "provider_turn_finished", turn: 1, metadata, error: { message: "overloaded" } },
      { type: "retry_scheduled", attempt: 1, delayMs: 10, error: { message: "overloaded" } },
      { type: "message_started", message: { id: "m2", role: "assistant", content: [] } },
      delta("Let me see"),
      { type: "message_finished", message: { id: "m2", role: "assistant", content: "Let me see" } },
      { type: "turn_finished", turn: 1 },
      finished,
    ]),
  );
  const { events } = await assertGood({ handler });
  expect(events.at(-1)?.["type"]).toBe("RUN_FINISHED");
  expect(events.filter(({ messageId }) => messageId === "m2").length).toBe(3);
});

test("3. what comes after the end stays here, also from a projection", async () => {
  const handler = handlerOf(
    sessionOf([started, finished, delta("late"), { type: "error", error: { message: "late" } }]),
    {
      projection: { custom: ({ type }) => ({ name: "x.y", value: type }) },
    },
  );
  const { events } = await assertGood({ handler });
  expect(events.map(({ type, value }) => value ?? type)).toEqual(["RUN_STARTED", "agent_started", "RUN_FINISHED"]);
});

test("4. a slow reader gets everything that fits, and always an end", async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => delta(`${index} `));
  // A session that waits for nobody: what its own queue cannot keep is lost, and it says so.
  const session = createSession(async (say) => {
    for (const event of [started, ...many, finished]) say(event);
  });
  const response = await handlerOf(session)(request());
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { events } = readSseBody(await response.text());
  const ends = events.filter((event) => /RUN_(ERROR|FINISHED)/.test((event as SessionEvent).type));
  expect(ends).toEqual([expect.objectContaining({ type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_OVERFLOW" })]);
  expect(events.at(-1)).toBe(ends[0]);

  // One whose queue is large enough loses nothing, however slow the reader.
  const patient = createSession(async (say) => {
    for (const event of [started, ...many, finished]) say(event);
  });
  const handler = createAgUiHandler({
    authorize: () => ({}),
    run: () => fromPrism(patient.stream("", { maxQueuedEvents: 4_096 })),
  });
  let read = "";
  const decoder = new TextDecoder();
  for await (const chunk of (await handler(request())).body ?? []) {
    read += decoder.decode(chunk, { stream: true });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const texts = readSseBody(read).events.map((event) => (event as { delta?: string }).delta ?? "");
  expect(texts.join("")).toBe(many.map((_, index) => `${index} `).join(""));
  expect(read.match(/RUN_FINISHED|RUN_ERROR/g)).toEqual(["RUN_FINISHED"]);
});

test("5. resumed, denied and repeated runs begin with RUN_STARTED", async () => {
  const lifecycle = new DurableRuns();
  const store = new EventStore();
  const handler = createAgUiHandler({
    authorize: () => ({}),
    run: ({ runId }) =>
      fromPrism(
        lifecycle.start({ runId }, [
          { id: "c1", name: "write" },
          { id: "c2", name: "write" },
        ]),
      ),
    interrupts: { lifecycle, resolveRun: ({ runId }) => ({ ref: { runId } }) },
    replay: { source: store, resolveRun: () => ({ ownership: {}, sessionId: "s", runId: "r" }) },
  });
  const first: string[] = [];
  let pending: readonly AgUiInterrupt[] = [];
  const payloads = [undefined, { decisions: [{ approvalId: "a-c1", outcome: "allow_once" }] }, { decision: "deny" }];
  for (const [index, payload] of payloads.entries()) {
    const resume = pending.map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload }));
    const input = { runId: `r${index}`, ...(payload === undefined ? {} : { resume }) };
    const verdict = await assertGood({ handler }, { versions: ["0.0.57"], pendingInterrupts: pending, input });
    first.push(String(verdict.events[0]?.["type"]));
    pending = verdict.clients[0]?.pendingInterrupts ?? [];
  }
  store.append({ ownership: {}, sessionId: "s", runId: "r" }, ...talkAndCall().slice(4));
  const replayed = await handler(new Request("http://agent.example/?cursor=&follow=false", request()));
  first.push(String((readSseBody(await replayed.text()).events[0] as SessionEvent).type));
  expect(first).toEqual(Array.from({ length: 4 }, () => "RUN_STARTED"));
});

test("6. a text that grows on the wire fits, and arrives whole", async () => {
  const text = '\u0001"\\\n'.repeat(16_000);
  const handler = handlerOf(
    sessionOf([
      started,
      { type: "message_started", message: { id: "m1", role: "assistant", content: [] } },
      { type: "message_finished", message: { id: "m1", role: "assistant", content: text } },
      finished,
    ]),
  );
  const { events, clients } = await assertGood({ handler });
  expect(events.at(-1)?.["type"]).toBe("RUN_FINISHED");
  expect(clients.map(({ messages }) => messages.at(-1)?.content)).toEqual([text, text, text]);
});

test("7. a run that never begins ends all the same", async () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", listen);
  const refuse = () => {
    throw new Error("per-run ownership is not allowed");
  };
  const beginnings: Array<() => AsyncIterable<unknown>> = [
    refuse,
    // biome-ignore lint/correctness/useYield: it never gets there
    async function* () {
      refuse();
    },
    () => ({ [Symbol.asyncIterator]: refuse }),
    () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
  ];
  for (const begin of beginnings) {
    const handler = createAgUiHandler({
      authorize: () => ({ ownership: { tenantId: "t" } }),
      run: () => begin(),
      limits: { requestTimeoutMs: 1_024 },
    });
    const { events } = readSseBody(await (await handler(request())).text());
    const code = begin === beginnings.at(-1) ? "HUMAN_PLUS_AG_UI_TIMEOUT" : "HUMAN_PLUS_AG_UI_RUN";
    expect(events).toEqual([
      expect.objectContaining({ type: "RUN_STARTED" }),
      expect.objectContaining({ type: "RUN_ERROR", code }),
    ]);
  }
  process.off("unhandledRejection", listen);
  expect(unhandled).toEqual([]);
});

test("8. more than twelve calls may wait for one decision", async () => {
  const calls = Array.from({ length: 40 }, (_, index) => ({ id: `c${index}`, name: "write" }));
  const lifecycle = new DurableRuns();
  const handler = createAgUiHandler({
    authorize: () => ({}),
    run: ({ runId }) => fromPrism(lifecycle.start({ runId }, calls)),
  });
  const { clients } = await assertGood({ handler });
  for (const { pendingInterrupts } of clients)
    expect(pendingInterrupts[0]?.metadata).toMatchObject({ humanplus: { pendingDecisions: { length: 40 } } });
});

test("9. a run that waits leaves shared state alone", async () => {
  const lifecycle = new DurableRuns();
  const handler = createAgUiHandler<object>({
    authorize: () => ({}),
    input: { project: () => "x" },
    run: ({ runId }) => fromPrism(lifecycle.start({ runId }, [{ id: "c1", name: "write" }])),
    projection: { state: () => ({ step: 3 }) },
  });
  const state = { theirs: [1, 2] };
  const { clients, events } = await assertGood({ handler }, { input: { state } });
  expect(clients.map((client) => client.state)).toEqual([state, state, state]);
  expect(events.find(({ type }) => type === "CUSTOM")).toEqual({
    type: "CUSTOM",
    name: "humanplus.run",
    value: { status: "suspended", version: 1, state: { step: 3 } },
  });
});

test("10. the step that was announced before a run waited is not shown", async () => {
  const lifecycle = new DurableRuns();
  const handler = createAgUiHandler({
    authorize: () => ({}),
    run: ({ runId }) => fromPrism(lifecycle.start({ runId }, [{ id: "c1", name: "write" }])),
  });
  const { events } = await assertGood({ handler });
  expect(events.filter(({ type }) => type === "STEP_STARTED").map(({ stepName }) => stepName)).toEqual(["turn:1"]);
});
