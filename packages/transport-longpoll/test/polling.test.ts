import { describe, expect, test } from "vitest";
import {
  accept,
  answerAtOnce,
  answerInTime,
  answerJson,
  LONG,
  linkTo,
  openTransport,
  replyTo,
  request,
  startPollEndpoint,
  TOKEN,
} from "./poll-endpoint.ts";

const waits = (polls: readonly { url: URL }[]) => polls.map(({ url }) => Number(url.searchParams.get("wait")));

describe("a leg of polls", () => {
  test("is known to the relay, and waits there, before anything is posted", async () => {
    const order: string[] = [];
    await using endpoint = await startPollEndpoint({
      onPoll(arrival, at) {
        order.push(`poll ${arrival.url.searchParams.get("wait")}`);
        answerInTime(1_000)(arrival, at);
      },
      onFrame(frame, response, at) {
        order.push("frame");
        accept(response);
        at.give(replyTo(frame));
      },
    });
    await using transport = openTransport();
    await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG);
    expect(order.slice(0, 3)).toEqual(["poll 0", "poll 5", "frame"]);
    const [{ url, headers }] = endpoint.polls as [(typeof endpoint.polls)[0]];
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ token: TOKEN, direction: "outbound" });
    expect(url.searchParams.get("client")).toMatch(/^agent-1\.[0-9a-f]{16}\.[0-9a-z]+$/);
    expect(headers).toMatchObject({ accept: "application/json", "accept-encoding": "identity" });
    expect(headers).not.toHaveProperty("referer");
  });

  test("is open as well where the relay makes the first poll wait although it asked for none", async () => {
    await using endpoint = await startPollEndpoint({
      onPoll: (arrival, at) => void at.until(() => at.queue.length > 0).then(() => answerAtOnce(arrival, at)),
    });
    await using transport = openTransport();
    const asked = request();
    expect((await transport.exchange(linkTo(endpoint.baseUrl), asked, LONG)).id).toBe(asked.id);
  });

  test("never asks for more than is left of the longest deadline, in whole seconds of dialect outbox", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: answerInTime(1_000), onFrame: (_, at) => accept(at) });
    await using transport = openTransport({ dialect: "outbox", idleLegMs: 0 });
    const from = performance.now();
    await transport.exchange(linkTo(endpoint.baseUrl), request(), { timeoutMs: 2_500 }).catch(() => {});
    expect(performance.now() - from).toBeLessThan(2_500 + 250);
    expect(waits(endpoint.polls).slice(0, 3)).toEqual([0, 2, 0]);
    for (const { url, at } of endpoint.polls)
      expect(at - from + Number(url.searchParams.get("wait")) * 1_000).toBeLessThan(2_500 + 100);
  });

  test("waits for the longest of several deadlines, in milliseconds of dialect poll", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: answerInTime(1), onFrame: (_, at) => accept(at) });
    await using transport = openTransport({ dialect: "poll", idleLegMs: 0, pollWaitMs: 25_000 });
    const link = linkTo(endpoint.baseUrl);
    const long = transport.exchange(link, request(), { timeoutMs: 1_500 }).catch(() => {});
    await transport.exchange(link, request(), { timeoutMs: 300 }).catch(() => {});
    await long;
    const [, asked] = waits(endpoint.polls) as [number, number];
    expect(asked).toBeLessThanOrEqual(1_500);
    expect(asked).toBeGreaterThan(300);
  });

  test("ends when nobody waits and the idle time is over", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: answerInTime(1_000) });
    await using transport = openTransport({ idleLegMs: 100 });
    await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG);
    const isOver = () => endpoint.polls.every(({ response }) => response.destroyed || response.writableEnded);
    await endpoint.until(() => endpoint.polls.length > 2 && isOver());
    const count = endpoint.polls.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(endpoint.polls.length).toBe(count);
  });

  test("takes at most two connections for 200 exchanges at once", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: answerInTime(1_000) });
    await using transport = openTransport();
    const link = linkTo(endpoint.baseUrl);
    const asked = Array.from({ length: 200 }, (_, n) => request({ n }));
    const answers = await Promise.all(asked.map((one) => transport.exchange(link, one, LONG)));
    expect(answers.map(({ id }) => id)).toEqual(asked.map(({ id }) => id));
    expect(new Set(endpoint.polls.map(({ socket }) => socket)).size).toBeLessThanOrEqual(2);
  });
});

describe("pacing", () => {
  test("an exchange of 10 s makes at most 12 polls where the relay ignores wait", async () => {
    await using endpoint = await startPollEndpoint({ onFrame: (_, response) => accept(response) });
    await using transport = openTransport({ idleLegMs: 0 });
    await transport.exchange(linkTo(endpoint.baseUrl), request(), { timeoutMs: 10_000 }).catch(() => {});
    expect(endpoint.polls.length).toBeLessThanOrEqual(12);
    expect(endpoint.polls.length).toBeGreaterThan(6);
  });

  test("frames are followed at once, and somebody new to wait for ends a rest", async () => {
    await using endpoint = await startPollEndpoint();
    await using transport = openTransport();
    const link = linkTo(endpoint.baseUrl);
    for (let n = 0; n < 10; n++) await transport.exchange(link, request({ n }), LONG);
    // Ten rests of the first length each, had an exchange not ended the rest of the one before it.
    expect(endpoint.polls.length).toBeGreaterThan(10);
    const from = performance.now();
    await transport.exchange(link, request(), LONG);
    expect(performance.now() - from).toBeLessThan(1_000);
  });

  test("a queue that gives the same frames again and again is paced", async () => {
    await using endpoint = await startPollEndpoint({
      onPoll: ({ response }) => answerJson(response, [{ jsonrpc: "2.0", method: "notifications/message", params: {} }]),
      onFrame: (_, response) => accept(response),
    });
    await using transport = openTransport({ idleLegMs: 0 });
    await transport.exchange(linkTo(endpoint.baseUrl), request(), { timeoutMs: 1_500 }).catch(() => {});
    expect(endpoint.polls.length).toBeLessThan(10);
  });

  test("replies arrive within 20 ms (median) of being there where the relay waits", async () => {
    let wasThereAt = 0;
    await using endpoint = await startPollEndpoint({
      onPoll: answerInTime(1_000),
      onFrame(frame, response, at) {
        accept(response);
        setTimeout(() => {
          wasThereAt = performance.now();
          at.give(replyTo(frame));
        }, 30);
      },
    });
    await using transport = openTransport();
    const link = linkTo(endpoint.baseUrl);
    const times: number[] = [];
    for (let n = 0; n < 21; n++) {
      await transport.exchange(link, request({ n }), LONG);
      times.push(performance.now() - wasThereAt);
    }
    expect(times.sort((a, b) => a - b)[10]).toBeLessThan(20);
  });
});
