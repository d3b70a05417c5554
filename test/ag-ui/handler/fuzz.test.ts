import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DurableRuns } from "../parts/durable-runs.ts";
import { EventStore } from "../parts/event-source.ts";
import { talkAndCall } from "../parts/prism-session.ts";

const RUNS = 50_000;

/** A host with a run that waits and one that is stored, of an owner whom nobody can be here. */
async function createHost() {
  const lifecycle = new DurableRuns();
  const store = new EventStore();
  const ownership = { tenantId: "alice" };
  store.append({ ownership, sessionId: "s", runId: "r" }, ...talkAndCall(["SECRET"]));
  const { items } = await store.page({ ownership, sessionId: "s", runId: "r" });
  for await (const _ of lifecycle.start({ runId: "r" }, [{ id: "c1", name: "SECRET" }], ownership));
  const handler = createAgUiHandler<{ tenantId: string }, unknown>({
    authorize: ({ request }) => ({ tenantId: request.headers.get("authorization") ?? "nobody" }),
    input: { project: ({ input }) => input, frontendTools: ({ input }) => input.tools.map(({ name }) => name) },
    run: async function* () {},
    interrupts: { lifecycle, resolveRun: ({ authorization, runId }) => ({ ref: { runId }, ownership: authorization }) },
    replay: {
      source: store,
      resolveRun: ({ authorization, runId }) => ({ ownership: authorization, sessionId: "s", runId }),
    },
    limits: { maxRequestBytes: 16_384 },
  });
  return { handler, lifecycle, cursors: items.map(({ cursor }) => cursor) };
}

/** Values that are nearly right. */
const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("t", "r", "c1", "m1", "r:1", "a-c1") },
  fc.string({ unit: "binary", maxLength: 140 }),
  fc.constantFrom("", ".", "../r", "r:1:1", "r:99999999999999999", "__proto__", "\u0000", "r".repeat(129)),
);
const json = fc.oneof(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(null, 0, -1, "", [], {}, true));
const loose = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: json });
const record = (shape: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, loose(value)])), { requiredKeys: [] });
const list = (value: fc.Arbitrary<unknown>) => fc.array(loose(value), { maxLength: 4 });

const part = record({ type: fc.constantFrom("text", "image", "binary", "x"), text: fc.string(), source: json });
const toolCall = record({
  id,
  type: fc.constant("function"),
  function: record({ name: fc.string(), arguments: fc.string() }),
});
const message = record({
  id,
  role: fc.constantFrom("user", "assistant", "tool", "system", "developer", "activity", "reasoning", "robot"),
  content: fc.oneof(fc.string(), list(part)),
  toolCalls: list(toolCall),
  toolCallId: id,
});
const decision = record({
  approvalId: id,
  outcome: fc.constantFrom("allow_once", "reject_once", "allow_for_run", "x"),
  reason: fc.string(),
  modifiedArguments: json,
});
const payload = fc.oneof(
  json,
  record({ decision: fc.constantFrom("approve", "deny", "x") }),
  record({ approved: fc.boolean() }),
  record({ editedArgs: json }),
  record({ decisions: list(decision) }),
);
const entry = record({ interruptId: id, status: fc.constantFrom("resolved", "cancelled", "x"), payload });
const input = record({
  threadId: id,
  runId: id,
  parentRunId: id,
  messages: list(message),
  tools: list(record({ name: id, description: fc.string(), parameters: json })),
  context: list(record({ description: fc.string(), value: fc.string() })),
  state: json,
  forwardedProps: fc.oneof(
    json,
    record({
      ownership: fc.constant({ tenantId: "alice" }),
      command: record({ resume: fc.oneof(list(entry), fc.string()) }),
    }),
  ),
  resume: list(entry),
  protocolVersion: fc.constantFrom("1.0", "0.0.57", ""),
});

/** What passes, but for a member or two: it gets as far as the runs of others. */
const nearly = fc
  .record({
    threadId: fc.constantFrom("t", "r"),
    runId: fc.constantFrom("r", "r2"),
    messages: fc.constant([{ id: "m1", role: "user", content: "Hello" }]),
    resume: fc.option(fc.constant([{ interruptId: "r:1", status: "resolved", payload: { decision: "approve" } }]), {
      nil: undefined,
    }),
    others: input as fc.Arbitrary<Record<string, unknown>>,
    taken: fc.subarray(["parentRunId", "messages", "tools", "context", "state", "forwardedProps", "resume"], {
      maxLength: 2,
    }),
  })
  .map(({ others, taken, ...sound }) => ({ ...sound, ...Object.fromEntries(taken.map((key) => [key, others[key]])) }));

const body = fc.oneof(
  { weight: 10, arbitrary: nearly.map((value) => JSON.stringify(value)) },
  { weight: 8, arbitrary: input.map((value) => JSON.stringify(value)) },
  json.map((value) => JSON.stringify(value)),
  // Keys that JavaScript reads in its own way, cut texts, and what is no text at all.
  input.map((value) => JSON.stringify(value).replace(/"(state|content|payload)"/g, '"__proto__"')),
  fc.tuple(input, fc.nat(400)).map(([value, at]) => JSON.stringify(value).slice(0, at)),
  fc.uint8Array({ maxLength: 60 }),
  fc.constantFrom("", "[".repeat(10_000), '{"a":'.repeat(3_000), `"${"x".repeat(20_000)}"`, "1e999", "\ufeff{}"),
);

test("50,000 malformed requests get no 5xx, no stack, and nothing of another owner", { timeout: 300_000 }, async () => {
  const { handler, lifecycle, cursors } = await createHost();
  const cursor = fc.oneof(
    fc.constant(undefined),
    fc.string({ maxLength: 60 }),
    fc
      .tuple(fc.constantFrom(...cursors, "1.x", ""), json, json, json)
      .map((parts) => Buffer.from(JSON.stringify([...parts.slice(0, 3), false, parts[3]])).toString("base64url")),
    fc.constantFrom(...cursors).map((own) => Buffer.from(JSON.stringify([own, 0, 0, false, ""])).toString("base64url")),
  );
  const requests = fc.record({
    method: fc.oneof({ weight: 18, arbitrary: fc.constant("POST") }, fc.constantFrom("GET", "DELETE")),
    type: fc.oneof(
      { weight: 18, arbitrary: fc.constantFrom("application/json", "Application/Json;charset=x") },
      fc.constantFrom("text/plain", ""),
    ),
    body,
    cursor,
    accept: fc.constantFrom("*/*", "text/event-stream", "application/vnd.ag-ui.event+proto"),
  });
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, type, body: text, cursor: at, accept }) => {
      const url = `http://agent.example/${at === undefined ? "" : `?follow=false&cursor=${encodeURIComponent(at)}`}`;
      const response = await handler(
        new Request(url, {
          method,
          headers: { "content-type": type, accept },
          ...(method === "GET" ? {} : { body: text as string }),
        }),
      );
      const answer = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      expect(response.status).toBeLessThan(500);
      expect(answer).not.toMatch(/SECRET|\n\s+at |node_modules|\.ts:\d/);
      if (response.status !== 200)
        expect(Object.keys((JSON.parse(answer) as { error: object }).error)).toEqual(["code", "message"]);
    }),
    { numRuns: RUNS },
  );
  expect(lifecycle.resumes).toEqual([]);
  // All of it was reached, and what asks for the runs of others often.
  expect(statuses.get(200)).toBeGreaterThan(500);
  expect(statuses.get(403)).toBeGreaterThan(500);
  expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 405, 413, 415]));
});
