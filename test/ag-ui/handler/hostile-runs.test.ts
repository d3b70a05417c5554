import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { composeProjections, createStateFromStoreProjection } from "@human-plus/adapter-ag-ui";
import { type AgUiHandlerOptions, createAgUiHandler, fromPrism, nodeListener } from "@human-plus/adapter-ag-ui/handler";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { completeInput, judge } from "../judge.ts";
import { readSseBody } from "../parts/sse-frames.ts";
import { cutOff } from "../taps/recordings.ts";

const unhandled: unknown[] = [];
const listen = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", listen));
afterEach(() => expect(unhandled.splice(0)).toEqual([]));
afterAll(() => void process.off("unhandledRejection", listen));

const body = JSON.stringify(completeInput());
const headers = { "content-type": "application/json" };
const finished = { type: "RUN_FINISHED" };

function handlerOf(run: AgUiHandlerOptions<object>["run"], options: Partial<AgUiHandlerOptions<object>> = {}) {
  return createAgUiHandler<object>({ authorize: () => ({}), run, ...options });
}

function ask(signal?: AbortSignal): Request {
  return new Request("http://agent.example/", { method: "POST", headers, body, ...(signal ? { signal } : {}) });
}

function typeOf(event: unknown): unknown {
  const { type, code } = event as { type: string; code?: string };
  return code ?? type;
}

/** Says one thing for ever, and never waits for anything that is not there already. */
function chatter(event: object) {
  let isLeft = false;
  const run = async function* () {
    try {
      for (;;) yield event;
    } finally {
      isLeft = true;
    }
  };
  return { run, isLeft: () => isLeft };
}

describe("a run that never pauses", () => {
  test("and says nothing that goes out is ended when its client goes away", async () => {
    const { run, isLeft } = chatter({ type: "A_TYPE_OF_LATER" });
    const abort = new AbortController();
    const response = await handlerOf(run)(ask(abort.signal));
    setTimeout(() => abort.abort(), 20);
    const { events } = readSseBody(await response.text());
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_CANCELLED" });
    await vi.waitFor(() => expect(isLeft()).toBe(true));
  });

  test("after its end does not keep the others from going on", async () => {
    const { run } = chatter(finished);
    const { events } = readSseBody(await (await handlerOf(run)(ask())).text());
    expect(events.at(-1)).toMatchObject(finished);
    await new Promise((resolve) => setTimeout(resolve, 1));
  });
});

describe("a run that is no run", () => {
  test.each([
    [42, "is 42"],
    ["events", 'is "events"'],
    [undefined, "is undefined"],
  ])("is named to the host, and not to its client: %s", async (given, words) => {
    const onProblem = vi.fn();
    const response = await handlerOf((async () => given) as never, { onProblem })(ask());
    const { events } = readSseBody(await response.text());
    expect(events.at(-1)).toEqual({ type: "RUN_ERROR", message: "The run failed", code: "HUMAN_PLUS_AG_UI_RUN" });
    const cause = new TypeError(`run should give an async iterable, ${words}`);
    expect(onProblem.mock.calls).toMatchObject([[{ message: "the run failed", cause }]]);
  });

  test("when its client is gone before it is there: nothing is left behind", async () => {
    cutOff("the client goes away");
    const broken = {
      [Symbol.asyncIterator]() {
        throw new Error("too late");
      },
    };
    for (const late of [undefined, 5, broken]) {
      let give: (run: never) => void = () => undefined;
      const abort = new AbortController();
      const response = await handlerOf(() => new Promise((resolve) => (give = resolve)))(ask(abort.signal));
      await response.body?.getReader().read();
      abort.abort();
      give(late as never);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test("where what drives it cannot be left: nothing is left behind", async () => {
    cutOff("the client goes away");
    const stubborn = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: { type: "agent_started" } }),
        return() {
          throw new Error("will not");
        },
      }),
    };
    for (const run of [() => stubborn, () => fromPrism(stubborn)]) {
      const abort = new AbortController();
      const response = await handlerOf(run)(ask(abort.signal));
      await response.body?.getReader().read();
      abort.abort();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});

describe("one terminal event is left for a run that", () => {
  const iterable = (next: () => unknown) => ({ [Symbol.asyncIterator]: () => ({ next }) });

  test.each<readonly [string, () => unknown]>([
    ["is nothing", () => undefined],
    ["is nothing, later", async () => undefined],
    ["is null", () => null],
    ["is a list", () => [finished]],
    ["gives no promises", () => iterable(() => ({ done: true }))],
    ["gives nothing at all", () => iterable(async () => undefined)],
    ["gives null", () => iterable(async () => null)],
  ])("%s", async (_, run) => {
    const { events } = readSseBody(await (await handlerOf(run as never)(ask())).text());
    expect(events.map((event) => typeOf(event))).toEqual(["RUN_STARTED", "HUMAN_PLUS_AG_UI_RUN"]);
  });
});

test("a run that a projection ended by saying too much is let go of, though it does not listen", async () => {
  let isClosed = false;
  let isLeft = false;
  let hasBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const silent = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        hasBegun();
        return new Promise<never>(() => undefined);
      },
      return: async () => {
        isLeft = true;
        return { done: true, value: undefined };
      },
    }),
  };
  let isDue = false;
  const handler = handlerOf(() => silent as never, {
    projection: {
      open({ onReady }) {
        void begun.then(() => {
          isDue = true;
          onReady();
        });
        return {
          take: () =>
            isDue ? Array.from({ length: 3 }, () => ({ type: "CUSTOM", name: "x.y", value: "x".repeat(600) })) : [],
          close: () => {
            isClosed = true;
          },
        };
      },
    },
    limits: { maxStreamBytes: 1_024 },
  });
  const { events } = readSseBody(await (await handler(ask())).text());
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_LIMIT" });
  expect([isClosed, isLeft]).toEqual([true, true]);
});

test("what a host hands in may fail later than it is asked: nobody's rejection is left", async () => {
  const fails = async () => {
    await undefined;
    throw new Error("late");
  };
  const { events } = readSseBody(
    await (
      await handlerOf(
        async function* () {
          yield { type: "CUSTOM", name: "x.y", value: fails() };
          yield { type: "CUSTOM" };
        },
        {
          onProblem: fails as never,
          projection: composeProjections(
            { open: () => ({ take: fails, saw: fails as never, close: fails as never }) },
            { open: fails as never },
            createStateFromStoreProjection({ get: fails }),
          ),
        },
      )(ask())
    ).text(),
  );
  expect(events.map((event) => typeOf(event))).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
});

test("a run is left when its client goes away, though a projection never answers", async () => {
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const session = async function* () {
    try {
      yield { type: "agent_started" };
    } finally {
      leave();
    }
  };
  const abort = new AbortController();
  const handler = handlerOf(() => fromPrism(session()), {
    projection: {
      custom() {
        isAsked();
        return new Promise(() => undefined);
      },
    },
  });
  await handler(ask(abort.signal));
  await asked;
  abort.abort();
  await left;
});

test("a listener for problems that throws changes nothing", async () => {
  const onProblem = () => {
    throw new Error("the log is full");
  };
  const throws = async function* () {
    yield null;
    yield { type: "STEP_STARTED", stepName: "s" };
    throw new Error("the run failed");
  };
  const { events, reasons } = await judge({ handler: handlerOf(throws, { onProblem }) });
  expect(reasons.filter((reason) => !reason.includes("execution failed"))).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_RUN" });
  const refuses = () => {
    throw new Error("no directory of users");
  };
  expect((await handlerOf(throws, { onProblem, authorize: refuses })(ask())).status).toBe(500);
});

describe("a reader that takes a part and stops", () => {
  const limits = { stallTimeoutMs: 1_024, maxQueuedEvents: 2 };

  test("ends the run, though nothing more could be queued for it", async () => {
    cutOff("the reader stops");
    let end: (reason: unknown) => void = () => undefined;
    const ended = new Promise((resolve) => {
      end = resolve;
    });
    const run = async function* ({ signal }: { signal: AbortSignal }) {
      signal.addEventListener("abort", () => end(signal.reason));
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x".repeat(1_000_000) };
      await new Promise(() => undefined);
    };
    const response = await handlerOf(run, { limits })(ask());
    const reader = response.body?.getReader();
    for (let chunks = 0; chunks < 2; chunks++) await reader?.read();
    expect(await ended).toMatchObject({ message: "The reader is too slow" });
  });

  test("is not kept for ever once the run is over, and neither is what it left", async () => {
    cutOff("the reader takes nothing, and is given up");
    const run = async function* () {
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x".repeat(9_000_000) };
      yield finished;
    };
    const server = createServer(nodeListener(handlerOf(run, { limits }))).listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const [serverSide] = await once(server, "connection");
    await once(serverSide, "close");
    socket.destroy();
    server.close();
    await once(server, "close");
  });
});

test("a request that is being authorized when the server shuts down is refused: no run begins, and no stream", async () => {
  let isBegun = false;
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  let allow: (who: object) => void = () => undefined;
  const run = async function* () {
    isBegun = true;
    yield finished;
  };
  const handler = handlerOf(run, {
    authorize() {
      isAsked();
      return new Promise((resolve) => {
        allow = resolve;
      });
    },
  });
  const answer = handler(ask());
  await asked;
  await handler.close();
  allow({});
  const { status, headers: sent } = await answer;
  expect([status, sent.get("retry-after"), isBegun]).toEqual([503, "5", false]);
});
