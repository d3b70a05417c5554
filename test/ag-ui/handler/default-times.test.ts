import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countUnhandledRejections } from "../parts/bounds.ts";
import { createDeafRun, createTalkingRun, forever } from "../parts/hanging-runs.ts";
import { endOf, readAll, webRequest } from "../parts/node-server.ts";
import { cutOff } from "../taps/recordings.ts";

countUnhandledRejections();

// What the README says of times that nobody sets: on a clock that is moved by hand.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Moves the clock, and lets what is due happen: streams take some turns of their own. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What a promise has become by now. */
function watch<T>(promise: Promise<T>): { readonly value: () => T | undefined } {
  let value: T | undefined;
  void promise.then((given) => {
    value = given;
  });
  return { value: () => value };
}

test("a quiet stream says that it lives every 15 s", async () => {
  cutOff("the test is over");
  const { body } = await createAgUiHandler({ authorize: () => ({}), run: createDeafRun().run })(webRequest());
  let text = "";
  const reading = readAll(body, (some) => {
    text = some;
  });
  void reading;
  const pings = () => text.match(/(?<=\n\n): ping\n\n/g)?.length ?? 0;
  await pass(14_999);
  expect(text).toContain("hello");
  expect(pings()).toBe(0);
  await pass(1);
  expect(pings()).toBe(1);
  await pass(14_999);
  expect(pings()).toBe(1);
  await pass(1);
  expect(pings()).toBe(2);
});

test("a stream ends after 120 s", async () => {
  const run = createDeafRun();
  const { body } = await createAgUiHandler({ authorize: () => ({}), run: run.run })(webRequest());
  const all = watch(readAll(body));
  await pass(119_999);
  expect(all.value()).toBe(undefined);
  await pass(1);
  expect(endOf(all.value() ?? "it goes on")).toBe("HUMAN_PLUS_AG_UI_TIMEOUT");
});

test("a request that gets no answer is refused after 120 s", async () => {
  const handler = createAgUiHandler({ authorize: forever, run: createDeafRun().run });
  const answer = watch(handler(webRequest()));
  await pass(119_999);
  expect(answer.value()).toBe(undefined);
  await pass(1);
  expect(answer.value()?.status).toBe(504);
});

test("a reader that takes nothing is waited for for 30 s, and again for what is left", async () => {
  cutOff("it is given up");
  const run = createTalkingRun();
  const { body } = await createAgUiHandler({ authorize: () => ({}), run: run.run })(webRequest());
  const reader = body?.getReader();
  const aborted = watch(run.aborted);
  const closed = watch(reader?.closed.catch((error: Error) => error.message) ?? forever());
  await pass(29_999);
  expect(aborted.value()).toBe(undefined);
  await pass(1);
  expect(aborted.value()).toMatchObject({ message: "The reader is too slow" });
  await pass(29_998);
  expect(closed.value()).toBe(undefined);
  await pass(2);
  expect(closed.value()).toBe("The reader took nothing for too long");
});

test("readers have 5 s for what is left when the server shuts down", async () => {
  const run = createTalkingRun();
  const handler = createAgUiHandler({ authorize: () => ({}), run: run.run });
  const { body } = await handler(webRequest());
  const closed = watch(handler.close().then(() => "closed"));
  await pass(4_999);
  expect(closed.value()).toBe(undefined);
  await pass(1);
  expect(closed.value()).toBe("closed");
  vi.useRealTimers();
  expect(endOf(await readAll(body))).toBe("HUMAN_PLUS_AG_UI_SHUTDOWN"); // it is still there for one who comes back
});
