import { type AgUiHandlerOptions, createAgUiHandler, fromPrism } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, countUnhandledRejections, within } from "../parts/bounds.ts";
import { forever } from "../parts/hanging-runs.ts";
import { endOf, readAll, webRequest } from "../parts/node-server.ts";
import { cutOff } from "../taps/recordings.ts";

countUnhandledRejections();

/** The least that can be asked for, in milliseconds. */
const TIMEOUT_MS = 1_024;

type Hang = () => Promise<never>;
type Options = Partial<AgUiHandlerOptions<object>>;

/** What a host has that hangs for ever, wherever it is asked: as soon as it is there, `hang` was called. */
const hosts: ReadonlyArray<readonly [what: string, options: (hang: Hang) => Options]> = [
  ["a run that never begins", (hang) => ({ run: hang })],
  ["a run that says nothing, and cannot be left", (hang) => ({ run: () => deaf(hang) })],
  [
    "a run that says nothing more",
    (hang) => ({
      async *run() {
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hello" };
        await hang(); // such as session.steer
      },
    }),
  ],
  [
    "a run whose session cannot be aborted",
    (hang) => ({
      async *run({ signal }) {
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hello" };
        try {
          void hang().catch(() => undefined);
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        } finally {
          await forever(); // such as session.abort
        }
      },
    }),
  ],
  ["a session that says nothing, and cannot be left", (hang) => ({ run: () => fromPrism(deaf(hang)) })],
  ["a session that says nothing more", (hang) => ({ run: () => fromPrism(says(hang)) })],
  [
    "a suspension that is never kept",
    (hang) => ({
      run: () => fromPrism(says(forever, { type: "agent_suspended", version: 1 })),
      interrupts: {
        lifecycle: { status: forever, resumeStream: () => deaf(forever) },
        resolveRun: forever,
        onSuspended: hang,
      },
    }),
  ],
  [
    "a projection that never answers",
    (hang) => ({
      run: () => fromPrism(says(forever, { type: "tool_execution_finished", result: { toolCallId: "c", name: "n" } })),
      projection: { toolResult: hang },
    }),
  ],
  [
    "a projection that never speaks",
    (hang) => ({ run: () => deaf(forever), projection: { open: () => ({ take: hang, close: () => undefined }) } }),
  ],
];

/** Answers nothing, and cannot be left either. */
function deaf(hang: Hang): AsyncIterable<object> {
  return { [Symbol.asyncIterator]: () => ({ next: hang, return: forever }) };
}

/** A session that says this, and then never again. */
async function* says(hang: Hang, ...events: readonly object[]): AsyncGenerator<object> {
  yield { type: "agent_started" };
  yield* events;
  await hang();
}

function createHost(options: (typeof hosts)[number][1], limits: AgUiHandlerOptions<object>["limits"] = {}) {
  const hung = Promise.withResolvers<void>();
  const hang = () => {
    hung.resolve();
    return forever();
  };
  const handler = createAgUiHandler<object>({
    authorize: () => ({}),
    run: () => deaf(forever),
    limits,
    ...options(hang),
  });
  return { handler, hung: hung.promise };
}

describe("a host that hangs for ever keeps no stream open", () => {
  test.each(hosts)("when the server shuts down: %s", async (_, options) => {
    const { handler, hung } = createHost(options);
    const { body } = await handler(webRequest());
    const all = readAll(body);
    await within(AT_ONCE_MS, "what hangs", hung);
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
    expect(endOf(await within(AT_ONCE_MS, "the end of the stream", all))).toBe("HUMAN_PLUS_AG_UI_SHUTDOWN");
  });

  test.each(hosts)("when its client goes away: %s", async (_, options) => {
    cutOff("its client goes away");
    const { handler, hung } = createHost(options);
    const { body } = await handler(webRequest());
    const reader = body?.getReader();
    const reading = reader?.read();
    await within(AT_ONCE_MS, "what hangs", hung);
    await within(AT_ONCE_MS, "the cancellation", reader?.cancel() ?? forever());
    await reading;
    // There is nothing left to wait for.
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
  });

  test("when its time is up, whatever it is that hangs", async () => {
    const ends = hosts.map(async ([what, options]) => {
      const { handler } = createHost(options, { requestTimeoutMs: TIMEOUT_MS });
      const { body } = await handler(webRequest());
      return [what, endOf(await within(TIMEOUT_MS + AT_ONCE_MS, what, readAll(body)))];
    });
    expect(await Promise.all(ends)).toEqual(hosts.map(([what]) => [what, "HUMAN_PLUS_AG_UI_TIMEOUT"]));
  });

  test.each([
    ["says it", (hang: Hang) => says(hang, { type: "agent_finished" })],
    ["says it through fromPrism", (hang: Hang) => fromPrism(says(hang, { type: "agent_finished" }))],
  ])("when its run is over, and hangs after it %s", async (_, run) => {
    const { handler, hung } = createHost((hang) => ({ run: () => run(hang) }));
    const { body } = await handler(webRequest());
    expect(endOf(await within(AT_ONCE_MS, "the end of the stream", readAll(body)))).toBe("RUN_FINISHED");
    await within(AT_ONCE_MS, "what hangs", hung);
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
  });
});
