import { gzipSync } from "node:zlib";
import type { HumanPlusError } from "@human-plus/core";
import { limits } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import {
  accept,
  answerAtOnce,
  answerInTime,
  answerJson,
  LONG,
  linkTo,
  openTransport,
  type PollArrival,
  type PollEndpointOptions,
  request,
  startPollEndpoint,
} from "./poll-endpoint.ts";

async function failureOf(options: PollEndpointOptions): Promise<{ error: HumanPlusError; posts: number }> {
  await using endpoint = await startPollEndpoint(options);
  await using transport = openTransport({ dialect: "outbox" });
  const error = await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG).then(
    (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown as HumanPlusError,
  );
  return { error, posts: endpoint.frames.length };
}

type Answer = (arrival: PollArrival) => void;

const refusals: readonly (readonly [string, Answer, string, boolean])[] = [
  ["401", ({ response }) => answerJson(response, { error: "invalid_token" }, 401), "attachment_unauthorized", false],
  ["410", ({ response }) => answerJson(response, { error: "session_gone" }, 410), "surface_unavailable", false],
  [
    "404 of a gone session",
    ({ response }) => answerJson(response, { error: "session_gone" }, 404),
    "surface_unavailable",
    false,
  ],
  ["404", ({ response }) => answerJson(response, "", 404), "relay_protocol_error", false],
  ["405", ({ response }) => answerJson(response, { error: "method_not_allowed" }, 405), "relay_protocol_error", false],
  ["429", ({ response }) => answerJson(response, { error: "too_many_clients" }, 429), "relay_busy", true],
  ["500", ({ response }) => answerJson(response, { error: "internal_error" }, 500), "relay_failed", true],
  ["a reset", ({ socket }) => void socket.destroy(), "relay_failed", true],
  [
    "a redirect",
    ({ response }) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    "relay_protocol_error",
    false,
  ],
  ["another content type", ({ response }) => void response.end("<html>"), "relay_protocol_error", false],
  [
    "an event stream",
    ({ response }) => void response.writeHead(200, { "content-type": "text/event-stream" }).write("retry: 1\n\n"),
    "relay_protocol_error",
    false,
  ],
  [
    "a compressed answer",
    ({ response }) =>
      void response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipSync("[]")),
    "relay_protocol_error",
    false,
  ],
  [
    "an answer without end",
    ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      const write = () => {
        while (!response.destroyed && response.write("[".repeat(65_536)));
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    },
    "relay_protocol_error",
    false,
  ],
];

describe("a leg of polls that is refused", () => {
  test.each(refusals)("by %s fails the exchange at once, and nothing is posted", async (_, onPoll, code, retryable) => {
    const { error, posts } = await failureOf({ onPoll });
    expect(error).toMatchObject({ name: "HumanPlusError", code, outcome: "not_applied", retryable });
    expect(posts).toBe(0);
  });

  test.each(refusals.filter(([, , , retryable]) => !retryable))(
    "by %s once the request was posted fails it with its outcome unknown",
    async (_, refuse, code) => {
      const { error, posts } = await failureOf({
        onPoll: (arrival, at) =>
          at.polls.length === 1
            ? answerAtOnce(arrival, at)
            : void at.until(() => at.frames.length > 0).then(() => refuse(arrival)),
        onFrame: (_frame, response) => accept(response),
      });
      expect(error).toMatchObject({ code, outcome: "unknown", retryable: false });
      expect(posts).toBe(1);
    },
  );

  test("for a while is polled again, and the request is posted once", async () => {
    await using endpoint = await startPollEndpoint({
      onPoll(arrival, at) {
        switch (at.polls.length) {
          case 3:
            return answerJson(arrival.response, "", 503);
          case 4:
            return void arrival.socket.destroy();
          case 5:
            return answerJson(arrival.response, "", 500);
          default:
            return at.polls.length < 6 ? void arrival.response.writeHead(204).end() : answerAtOnce(arrival, at);
        }
      },
    });
    await using transport = openTransport();
    const asked = request();
    expect((await transport.exchange(linkTo(endpoint.baseUrl), asked, LONG)).id).toBe(asked.id);
    expect(endpoint.frames).toHaveLength(1);
  });

  test(`the answer may have ${limits.pollAnswerBytes} bytes, and no more`, async () => {
    const padded = (bytes: number): Answer => {
      const text = `{"frames":[],"pad":"${"x".repeat(bytes - 22)}"}`;
      return ({ response }) => answerJson(response, text);
    };
    const { error } = await failureOf({ onPoll: padded(limits.pollAnswerBytes + 1) });
    expect(error).toMatchObject({ code: "relay_protocol_error", outcome: "not_applied" });
    await using endpoint = await startPollEndpoint({
      onPoll: (arrival, at) =>
        at.polls.length === 1 ? padded(limits.pollAnswerBytes)(arrival) : answerAtOnce(arrival, at),
    });
    await using transport = openTransport();
    await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG);
  });
});

describe("the dialect", () => {
  test.each([404, 405])("changes on %i, before anything is posted, and is remembered for the relay", async (status) => {
    await using endpoint = await startPollEndpoint({
      onPoll({ response, route }, { queue }) {
        if (route === "outbox") answerJson(response, "", status);
        else answerJson(response, { frames: queue.splice(0).map((frame) => JSON.stringify(frame)) });
      },
    });
    await using transport = openTransport({ idleLegMs: 0 });
    await transport.exchange(linkTo(endpoint.baseUrl, "a"), request(), LONG);
    await transport.exchange(linkTo(endpoint.baseUrl, "b"), request(), LONG);
    expect(endpoint.polls.filter(({ route }) => route === "outbox")).toHaveLength(1);
    expect(endpoint.frames).toHaveLength(2);
  });

  test("is not sought where one was given: the error names the other", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: ({ response }) => answerJson(response, "", 404) });
    await using transport = openTransport({ dialect: "poll" });
    const error = await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG).catch((e) => e);
    expect(error).toMatchObject({ code: "relay_protocol_error", outcome: "not_applied" });
    expect(error.message).toContain('"outbox"');
    expect(endpoint.polls).toHaveLength(1);
  });

  test("is sought where pollPath says", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: answerInTime(1_000) });
    await using transport = openTransport({ pollPath: "frames/next" });
    await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG);
    expect(new Set(endpoint.polls.map(({ route }) => route))).toEqual(new Set(["frames/next"]));
  });
});

test.each([
  { dialect: "sse" as never },
  { pollPath: "/poll" },
  { pollPath: "../poll" },
  { pollPath: "poll?x=1" },
  { pollWaitMs: 0 },
  { pollWaitMs: Number.NaN },
])("%o is refused", (options) => {
  expect(() => openTransport(options)).toThrowError(expect.objectContaining({ code: "invalid_argument" }));
});
