import type { AgUiInterrupt, AgUiRunInput } from "@human-plus/adapter-ag-ui";
import {
  type AgUiHandler,
  createAgUiHandler,
  fromPrism,
  type InterruptOptions,
  type Projection,
  type ResolvedRun,
  type SuspendedContext,
} from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { assertGood, type JudgeOptions, type Verdict } from "../judge.ts";
import { DurableRuns } from "../parts/durable-runs.ts";

interface Owner {
  readonly tenantId: string;
}

/** A host whose agent asks before it writes, for one owner per bearer. */
function createHost({
  calls = [{ id: "c1", name: "write", args: { card: "budget" } }],
  projection = {},
  ...interrupts
}: {
  readonly calls?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args?: unknown }>;
  readonly projection?: Projection;
} & Partial<InterruptOptions<Owner>> & { now?: () => number } = {}) {
  const { now = Date.now, ...options } = interrupts;
  const lifecycle = new DurableRuns();
  const waiting = new Map<string, ResolvedRun>();
  const suspensions: Array<SuspendedContext<Owner>> = [];
  const problems: string[] = [];
  const handler = createAgUiHandler<Owner>({
    authorize: ({ request }) => {
      const tenantId = request.headers.get("authorization");
      return tenantId === null ? undefined : { tenantId };
    },
    run: ({ threadId, runId, authorization: { tenantId } }) =>
      fromPrism(lifecycle.start({ runId: `prism-${threadId}-${runId}` }, calls, { tenantId })),
    interrupts: {
      lifecycle,
      resolveRun: ({ threadId, runId, authorization: { tenantId } }) => waiting.get(`${tenantId}/${threadId}/${runId}`),
      onSuspended(context) {
        suspensions.push(context);
        const { threadId, runId, authorization, expiresAt } = context;
        const ref = { runId: `prism-${threadId}-${runId}` };
        waiting.set(`${authorization.tenantId}/${threadId}/${runId}`, {
          ref,
          ownership: { tenantId: authorization.tenantId },
          expiresAt,
        });
      },
      ...options,
    },
    projection,
    now,
    onProblem: ({ message }) => problems.push(message),
  });
  return { handler, lifecycle, suspensions, problems };
}

const headers = { authorization: "alice" };
let runs = 0;

/** Lets a run get as far as its interrupt, for each of the clients by itself. */
async function interrupted(handler: AgUiHandler, options: JudgeOptions = {}) {
  const runId = `run-${++runs}`;
  const verdict = await assertGood({ handler }, { headers, versions: ["1.0.0"], input: { runId }, ...options });
  const { outcome } = verdict.events.at(-1) as unknown as { outcome: { type: string; interrupts: [AgUiInterrupt] } };
  expect(outcome.type).toBe("interrupt");
  return { runId, verdict, interrupt: outcome.interrupts[0], interrupts: outcome.interrupts };
}

type Entry = NonNullable<AgUiRunInput["resume"]>[number];

/** Resumes with the real client of a version, as a page does. */
function resumed(
  handler: AgUiHandler,
  interrupts: readonly AgUiInterrupt[],
  entry: Partial<Entry>,
  options: JudgeOptions = {},
): Promise<Verdict> {
  const resume = interrupts.map(({ id }) => ({ interruptId: id, status: "resolved" as const, ...entry }));
  return assertGood(
    { handler },
    {
      headers,
      versions: ["1.0.0"],
      pendingInterrupts: interrupts,
      input: { runId: `run-${++runs}`, resume },
      ...options,
    },
  );
}

/** What a request without a client gets. */
async function ask(handler: AgUiHandler, body: object, authorization = "alice") {
  const response = await handler(
    new Request("http://agent.example/", {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ threadId: "t", runId: `run-${++runs}`, messages: [], ...body }),
    }),
  );
  const text = await response.text();
  const error = response.ok ? undefined : (JSON.parse(text) as { error: { code: string; message: string } }).error;
  return { status: response.status, text, code: error?.code, message: error?.message };
}

/** How a stream ended: the code of its error, what a run was if it did not go on, or the type of its end. */
function endOf({ events }: Verdict): unknown {
  const { type, code, result } = events.at(-1) as { type: string; code?: string; result?: { status: string } };
  return code ?? result?.status ?? type;
}

const types = ({ events }: Verdict) => events.map(({ type }) => type);

describe("an interrupt", () => {
  test("has the id of its run and version, says what may be answered, and shows no arguments", async () => {
    const { handler } = createHost();
    const { runId, interrupt, verdict } = await interrupted(handler);
    expect(interrupt).toMatchObject({
      id: `${runId}:1`,
      reason: "tool_call",
      message: "write wants to write",
      toolCallId: "c1",
      metadata: {
        humanplus: {
          pendingDecisions: [{ approvalId: "a-c1", kind: "tool_approval", toolCallId: "c1", toolName: "write" }],
        },
      },
    });
    expect(Object.keys(interrupt.responseSchema ?? {})).toEqual(["type", "oneOf"]);
    expect(verdict.body).not.toMatch(/budget|secret/);
    expect(types(verdict)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "CUSTOM",
      "RUN_FINISHED",
    ]);
  });

  test("is taken by clients of every version", async () => {
    const { handler } = createHost();
    const inputOf = (version: string) => ({ threadId: `t-${version}` });
    const { verdict } = await interrupted(handler, { versions: ["0.0.57", "0.0.59", "1.0.0"], inputOf });
    expect(verdict.clients.map(({ pendingInterrupts }) => pendingInterrupts.length)).toEqual([1, 1, 1]);
  });

  test("is told to the host before the client hears of it", async () => {
    const order: string[] = [];
    const { handler } = createHost({
      async onSuspended() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        order.push("kept");
      },
    });
    const response = await handler(
      new Request("http://agent.example/", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ threadId: "t", runId: "r", messages: [{ id: "u", role: "user", content: "x" }] }),
      }),
    );
    for await (const chunk of response.body ?? [])
      if (new TextDecoder().decode(chunk).includes("interrupt")) order.push("told");
    expect(order).toEqual(["kept", "told"]);
  });

  test("that the host could not keep is not shown: the run fails", async () => {
    const { handler } = createHost({ onSuspended: () => Promise.reject(new Error("secret")) });
    const { events, body } = await assertGood({ handler }, { headers, versions: ["1.0.0"] });
    expect(events.at(-1)).toEqual({ type: "RUN_ERROR", message: "The run failed", code: "HUMAN_PLUS_AG_UI_RUN" });
    expect(body).not.toContain("secret");
  });

  test("may be the host's own, if ours is among them", async () => {
    const mine = (interrupt: AgUiInterrupt) => [{ ...interrupt, reason: "humanplus:write", message: "Really?" }];
    const { handler } = createHost({ projection: { interrupt: (_, interrupt) => mine(interrupt) } });
    expect((await interrupted(handler)).interrupt).toMatchObject({ reason: "humanplus:write", message: "Really?" });
    for (const interrupt of [() => [], () => [{ id: "other", reason: "x" }]]) {
      const broken = createHost({ projection: { interrupt } });
      const { events } = await assertGood({ handler: broken.handler }, { headers, versions: ["1.0.0"] });
      expect(events.at(-1)?.["code"]).toBe("HUMAN_PLUS_AG_UI_RUN");
    }
  });

  test("of 128 calls can be sent, and decided at once", async () => {
    const calls = Array.from({ length: 128 }, (_, index) => ({ id: `call-${index}`, name: "write".repeat(12) }));
    const { handler, lifecycle } = createHost({ calls });
    const { interrupts } = await interrupted(handler);
    const { pendingDecisions } = (
      interrupts[0].metadata as { humanplus: { pendingDecisions: Array<{ approvalId: string }> } }
    ).humanplus;
    const decisions = pendingDecisions.map(({ approvalId }) => ({ approvalId, outcome: "allow_once" }));
    expect(decisions.length).toBe(128);
    await resumed(handler, interrupts, { payload: { decisions } });
    expect(lifecycle.executed.length).toBe(128);
  });
});

describe("what a person answers", () => {
  test.each<readonly [string, Partial<Entry>, executed: number, end: string]>([
    ["approve", { payload: { decision: "approve" } }, 1, "RUN_FINISHED"],
    ["approved", { payload: { approved: true } }, 1, "RUN_FINISHED"],
    ["deny", { payload: { decision: "deny" } }, 0, "denied"],
    ["not approved", { payload: { approved: false } }, 0, "denied"],
    ["nobody decided", { status: "cancelled" }, 0, "denied"],
    ["nobody decided, though it says approve", { status: "cancelled", payload: { decision: "approve" } }, 0, "denied"],
    ["edits", { payload: { approved: true, editedArgs: { card: "other" } } }, 0, "denied"],
    ["edits of another name", { payload: { args: { card: "other" } } }, 0, "denied"],
    ["allow one", { payload: { decisions: [{ approvalId: "a-c1", outcome: "allow_once" }] } }, 1, "RUN_FINISHED"],
    [
      "reject one",
      { payload: { decisions: [{ approvalId: "a-c1", outcome: "reject_once", reason: "no" }] } },
      0,
      "RUN_FINISHED",
    ],
  ])("%s", async (_, entry, executed, end) => {
    const { handler, lifecycle } = createHost();
    const { interrupts } = await interrupted(handler);
    const verdict = await resumed(handler, interrupts, entry);
    expect(lifecycle.executed.length).toBe(executed);
    expect(lifecycle.resumes.length).toBe(1);
    expect(endOf(verdict)).toBe(end);
    // The thread is free again.
    expect(verdict.clients[0]?.pendingInterrupts).toEqual([]);
    expect(verdict.events[0]?.["type"]).toBe("RUN_STARTED");
  });

  test.each(["0.0.57", "0.0.59", "1.0.0"] as const)("no, leaves a client %s free to go on", async (version) => {
    const { handler } = createHost();
    const { interrupts } = await interrupted(handler, { versions: [version] });
    const verdict = await resumed(handler, interrupts, { status: "cancelled" }, { versions: [version] });
    expect([endOf(verdict), verdict.clients[0]?.pendingInterrupts]).toEqual(["denied", []]);
    const { outcome } = verdict.events.at(-1) as { outcome?: object };
    expect(outcome).toEqual(version === "1.0.0" ? { type: "cancelled" } : undefined);
  });

  test.each(["0.0.57", "0.0.59", "1.0.0"] as const)("reaches the run from a client %s, once", async (version) => {
    const { handler, lifecycle } = createHost();
    const { interrupts } = await interrupted(handler, { versions: [version] });
    const verdict = await resumed(handler, interrupts, { payload: { decision: "approve" } }, { versions: [version] });
    expect(types(verdict)).toEqual([
      "RUN_STARTED",
      "CUSTOM",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(lifecycle.executed).toEqual([{ toolCallId: "c1", args: { card: "budget" } }]);
    // Again, and as if it had been meant for what came after.
    for (const { id } of [...interrupts, { id: interrupts[0].id.replace(/1$/, "2") }]) {
      const again = await ask(handler, {
        resume: [{ interruptId: id, status: "resolved", payload: { decision: "approve" } }],
      });
      expect([again.status, again.message]).toEqual([400, "Resume does not match the pending interrupt"]);
    }
    expect(lifecycle.executed.length).toBe(1);
  });

  test("twice at the same time: one goes on, and the other executes nothing", async () => {
    const { handler, lifecycle } = createHost();
    const { interrupts } = await interrupted(handler);
    const ends = await Promise.all(
      Array.from({ length: 5 }, () =>
        ask(handler, {
          resume: [{ interruptId: interrupts[0].id, status: "resolved", payload: { decision: "approve" } }],
        }),
      ),
    );
    expect(lifecycle.executed.length).toBe(1);
    expect(ends.filter(({ text }) => text.includes("RUN_FINISHED")).length).toBe(1);
    expect(ends.filter(({ text }) => text.includes('"RUN_ERROR"')).length).toBe(4);
  });

  test("after it is too late: nothing is executed, and the thread is free", async () => {
    let now = Date.UTC(2030, 0, 1);
    const { handler, lifecycle, suspensions } = createHost({ expiresAfterMs: 60_000, now: () => now });
    const { interrupts } = await interrupted(handler);
    expect(interrupts[0].expiresAt).toBe("2030-01-01T00:01:00.000Z");
    expect(suspensions[0]?.expiresAt).toBe(now + 60_000);
    now += 60_000;
    const verdict = await resumed(handler, interrupts, { payload: { decision: "approve" } });
    expect([endOf(verdict), verdict.clients[0]?.pendingInterrupts]).toEqual(["denied", []]);
    expect(lifecycle.executed).toEqual([]);
  });

  test("of some calls only: the rest is asked again, under the same run and the next version", async () => {
    const { handler, lifecycle } = createHost({
      calls: [
        { id: "c1", name: "write" },
        { id: "c2", name: "write" },
      ],
    });
    const { runId, interrupts } = await interrupted(handler);
    const first = await resumed(handler, interrupts, {
      payload: { decisions: [{ approvalId: "a-c2", outcome: "allow_once" }] },
    });
    expect(types(first)).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    const { outcome } = first.events.at(-1) as unknown as { outcome: { interrupts: AgUiInterrupt[] } };
    expect(outcome.interrupts.map(({ id }) => id)).toEqual([`${runId}:2`]);
    expect(lifecycle.executed).toEqual([]);
    await resumed(handler, outcome.interrupts, {
      payload: { decisions: [{ approvalId: "a-c1", outcome: "allow_once" }] },
    });
    expect(lifecycle.executed.map(({ toolCallId }) => toolCallId)).toEqual(["c1"]);
  });

  test.each<readonly [string, object]>([
    ["nothing", {}],
    ["no payload", { payload: null }],
    ["an unknown decision", { payload: { decision: "maybe" } }],
    ["two keys", { payload: { decision: "approve", approved: true } }],
    ["a truth that is none", { payload: { approved: "true" } }],
    ["no decisions", { payload: { decisions: [] } }],
    [
      "129 decisions",
      {
        payload: { decisions: Array.from({ length: 129 }, (_, i) => ({ approvalId: `${i}`, outcome: "allow_once" })) },
      },
    ],
    ["one call twice", { payload: { decisions: [1, 2].map(() => ({ approvalId: "a-c1", outcome: "allow_once" })) } }],
    ["an unknown outcome", { payload: { decisions: [{ approvalId: "a-c1", outcome: "allow" }] } }],
    ["an unknown key", { payload: { decisions: [{ approvalId: "a-c1", outcome: "allow_once", force: true }] } }],
    [
      "a long reason",
      { payload: { decisions: [{ approvalId: "a-c1", outcome: "reject_once", reason: "x".repeat(2_049) }] } },
    ],
    [
      "large arguments",
      {
        payload: {
          decisions: [{ approvalId: "a-c1", outcome: "allow_once", modifiedArguments: { x: "x".repeat(16_384) } }],
        },
      },
    ],
    [
      "an answer that is no object",
      { payload: { decisions: [{ approvalId: "a-c1", outcome: "allow_once", elicitation: "yes" }] } },
    ],
  ])("that is %s is refused, and the run waits on", async (_, entry) => {
    const { handler, lifecycle } = createHost();
    const { interrupts } = await interrupted(handler);
    const answer = await ask(handler, { resume: [{ interruptId: interrupts[0].id, status: "resolved", ...entry }] });
    expect([answer.status, answer.code, answer.message]).toEqual([
      400,
      "HUMAN_PLUS_AG_UI_INPUT",
      "Resume payload is invalid",
    ]);
    expect(lifecycle.resumes).toEqual([]);
    await resumed(handler, interrupts, { payload: { decision: "approve" } });
    expect(lifecycle.executed.length).toBe(1);
  });

  test("about a call that does not wait, is refused by the run", async () => {
    const { handler, lifecycle, problems } = createHost();
    const { interrupts } = await interrupted(handler);
    const { events } = await resumed(handler, interrupts, {
      payload: { decisions: [{ approvalId: "a-c9", outcome: "allow_once" }] },
    });
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(lifecycle.executed).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("with arguments of its own for a call reaches the run, which checks them", async () => {
    const { handler, lifecycle } = createHost();
    const { interrupts } = await interrupted(handler);
    const decisions = [{ approvalId: "a-c1", outcome: "allow_once", modifiedArguments: { card: "other" } }];
    await resumed(handler, interrupts, { payload: { decisions } });
    expect(lifecycle.executed).toEqual([{ toolCallId: "c1", args: { card: "other" } }]);
  });
});

describe("a resume", () => {
  const approve = { status: "resolved", payload: { decision: "approve" } };

  test("of somebody else's run is refused, whatever the client says of it", async () => {
    const { handler, lifecycle } = createHost();
    const { interrupts, runId } = await interrupted(handler);
    const claims = { forwardedProps: { ownership: { tenantId: "alice" } }, parentRunId: runId };
    for (const more of [{}, claims]) {
      const answer = await ask(
        handler,
        { ...more, resume: [{ interruptId: interrupts[0].id, ...approve }] },
        "mallory",
      );
      expect([answer.status, answer.code, answer.message]).toEqual([
        403,
        "HUMAN_PLUS_AG_UI_FORBIDDEN",
        "Run is unavailable",
      ]);
    }
    expect(lifecycle.executed).toEqual([]);
  });

  test("on another thread is refused", async () => {
    const { handler } = createHost();
    const { interrupts } = await interrupted(handler);
    expect(
      (await ask(handler, { threadId: "t2", resume: [{ interruptId: interrupts[0].id, ...approve }] })).status,
    ).toBe(403);
  });

  test("that names another run than its interrupt is refused", async () => {
    const { handler, lifecycle } = createHost();
    const { runId } = await interrupted(handler);
    const answer = await ask(handler, { parentRunId: runId, resume: [{ interruptId: "other:1", ...approve }] });
    expect(answer.message).toBe("Resume does not match the pending interrupt");
    expect(lifecycle.executed).toEqual([]);
  });

  test("of several interrupts is for the host's policy to read", async () => {
    const entries = (id: string) => [
      { interruptId: id, ...approve },
      { interruptId: "mine", ...approve },
    ];
    const plain = createHost();
    const first = await interrupted(plain.handler);
    expect((await ask(plain.handler, { resume: entries(first.interrupt.id) })).message).toMatch(/does not match/);
    const asked: unknown[] = [];
    const host = createHost({
      resume({ entries: given, expectedInterruptId, status, authorization }) {
        asked.push([given.length, expectedInterruptId, status.version, authorization]);
        return { decision: "approve", expectedVersion: status.version };
      },
    });
    const { interrupt } = await interrupted(host.handler);
    expect((await ask(host.handler, { resume: entries(interrupt.id) })).text).toContain("RUN_FINISHED");
    expect(asked).toEqual([[2, interrupt.id, 1, { tenantId: "alice" }]]);
    expect(host.lifecycle.executed.length).toBe(1);
  });

  test.each<readonly [string, InterruptOptions<Owner>["resume"]]>([
    ["nothing", () => undefined],
    ["another version", () => ({ decision: "approve", expectedVersion: 7 })],
    ["what is no decision", () => ({ decision: "maybe" }) as never],
  ])("is refused when the policy gives %s", async (_, resume) => {
    const { handler, lifecycle } = createHost({ resume });
    const { interrupt } = await interrupted(handler);
    const answer = await ask(handler, { resume: [{ interruptId: interrupt.id, ...approve }] });
    expect([answer.status, answer.message]).toEqual([400, "Interrupt resolution is invalid"]);
    expect(lifecycle.executed).toEqual([]);
  });

  test("with edits is denied, and the policy is not asked", async () => {
    const { handler, lifecycle } = createHost({ resume: () => ({ decision: "approve" }) });
    const { interrupts } = await interrupted(handler);
    await resumed(handler, interrupts, { payload: { approved: true, editedArgs: {} } });
    expect(lifecycle.executed).toEqual([]);
  });

  test("may come as older hosts send it, if it names its interrupt", async () => {
    const { handler, lifecycle } = createHost();
    const { interrupt } = await interrupted(handler);
    for (const resume of [true, "approve", { decision: "approve" }])
      expect((await ask(handler, { forwardedProps: { command: { resume } } })).status).toBe(400);
    const crowd = Array.from({ length: 9 }, () => ({ interruptId: interrupt.id, payload: { decision: "approve" } }));
    const deep = `[{"interruptId":"${interrupt.id}","payload":${"[".repeat(99)}${"]".repeat(99)}}]`;
    for (const resume of [crowd, deep])
      expect((await ask(handler, { forwardedProps: { command: { resume } } })).status).toBe(413);
    expect(lifecycle.executed).toEqual([]);
    const resume = JSON.stringify({ interruptId: interrupt.id, payload: { decision: "approve" } });
    expect((await ask(handler, { forwardedProps: { command: { resume } } })).text).toContain("RUN_FINISHED");
    expect(lifecycle.executed.length).toBe(1);
  });
});
