import { eventStream, limits } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import { createEventLeg } from "../event-leg.ts";
import { doesNotHold, holds, type Outcome } from "../outcome.ts";
import { codeOf } from "./answer.ts";
import type { RelayProbe } from "./relay-probe.ts";
import { createNotification, createReply, createRequest } from "./sample-frames.ts";

/** How long after its interval a keepalive may come, in milliseconds. */
const KEEPALIVE_SLACK_MS = 5_000;

/** Event streams: PROTOCOL.md section 2.2. */
export const streamChecks: readonly CheckDefinition<RelayProbe>[] = [
  {
    id: "relay.stream.head",
    name: "a stream opens with the headers of the contract",
    section: "2.2",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const answer = await session.openStream(session.streamUrl({ client: "one", direction: "outbound" }));
        answer.destroy();
        const { statusCode, headers } = answer;
        if (statusCode !== 200) return doesNotHold("200", `${statusCode}`);
        const expected = { "content-type": eventStream.contentType, ...eventStream.headers };
        for (const [name, value] of Object.entries(expected)) {
          const got = headers[name];
          const words = String(got ?? "").toLowerCase();
          const isRight = name === "content-type" ? words.split(";")[0]?.trim() === value : words.includes(value);
          if (!isRight) return doesNotHold(`${name}: ${value}`, `${name}: ${probe.quoter.quote(got ?? "absent")}`);
        }
        return holds();
      }),
  },
  {
    id: "relay.stream.retry",
    name: "the retry field comes first",
    section: "2.2",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const leg = await session.leg("one");
        const expected = `retry: ${limits.sseRetryMs} before anything else`;
        await leg.part(expected, () => true);
        const [first] = leg.parts;
        if (first?.kind === "retry" && first.ms === limits.sseRetryMs) return holds();
        return doesNotHold(expected, first?.kind === "retry" ? `retry: ${first.ms}` : `${first?.kind} first`);
      }),
  },
  {
    id: "relay.stream.frame",
    name: "frames come as events named mcp, as they were sent",
    section: "2.2",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        const agent = await session.leg("one");
        const frames = [
          { ...createRequest(), params: { text: "é\u2028\u{1f600} \n", list: [1, 1.5, null, true, {}] } },
          createNotification(),
        ];
        for (const [index, frame] of frames.entries()) {
          const [to, leg] = index === 0 ? (["surface", surface] as const) : (["agents", agent] as const);
          await session.say(to, frame, "one");
          const got = await leg.frame(`the frame as an event ${eventStream.frameEvent}`, (candidate) =>
            "id" in frame ? candidate.id === frame.id : candidate.method === frame.method,
          );
          if (!isSame(got, frame)) return doesNotHold("the frame that was sent", probe.quoter.quote(got));
        }
        return holds();
      }),
  },
  {
    id: "relay.stream.id",
    name: "ids are carried as they are, text or number",
    section: "2.4",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        const agent = await session.leg("one");
        for (const id of [7, "7", `${crypto.randomUUID()}é`]) {
          await session.say("surface", { ...createRequest(), id }, "one");
          await surface.frame(`a request with the id ${JSON.stringify(id)}`, (frame) => frame.id === id);
          await session.say("agents", createReply(id));
          await agent.frame(`a response with the id ${JSON.stringify(id)}`, (frame) => frame.id === id);
        }
        return holds();
      }),
  },
  {
    id: "relay.stream.keepalive",
    name: "a silent stream is kept alive with comments",
    section: "2.2",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const leg = await session.leg("one");
        const ms = limits.sseKeepAliveMs + KEEPALIVE_SLACK_MS;
        await leg.part(`a comment every ${limits.sseKeepAliveMs} ms`, ({ kind }) => kind === "comment", ms);
        return holds();
      }),
  },
  {
    id: "relay.stream.refused",
    name: "a refused stream says why in an event",
    section: "2.2",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const { token } = probe.credentials();
        const wrong = await refusedStream(probe, session.streamUrl({ client: "one", direction: "outbound", token }));
        if (wrong.status !== "holds") return wrong;
        await session.unregister();
        return refusedStream(probe, session.streamUrl({ client: "one", direction: "outbound" }));
      }),
  },
  {
    id: "relay.stream.direction",
    name: "without a direction, a stream with a client is an agent's",
    section: "2.1",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        const leg = await session.legOf(session.streamUrl({ client: "one" }));
        const request = createRequest();
        await session.say("surface", request, "other");
        await surface.frame("the surface gets the request of an agent", ({ id }) => id === request.id);
        const fence = createNotification();
        await session.say("agents", fence);
        await leg.frame("what the surface tells agents", ({ method }) => method === fence.method);
        if (leg.frames().every(({ id }) => id !== request.id)) return holds();
        return doesNotHold("what agents read", "another agent's request came too");
      }),
  },
];

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return Object.is(a, b);
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => isSame(left[key], right[key]));
}

async function refusedStream(probe: RelayProbe, url: string): Promise<Outcome> {
  const answer = await probe.http.open({ method: "GET", url });
  const expected = `401 or 410 with event: ${eventStream.errorEvent} and the reason as data`;
  if (answer.statusCode === 200) {
    answer.destroy();
    return doesNotHold(expected, "a stream that opened");
  }
  const leg = createEventLeg(answer, probe);
  const part = await leg
    .part(expected, (candidate) => candidate.kind === "event" && candidate.name === eventStream.errorEvent)
    .finally(() => leg.close());
  const reason = part.kind === "event" ? part.data : "";
  const isRefusal = answer.statusCode === 401 || answer.statusCode === 410;
  if (isRefusal && codeOf({ body: `data: ${reason}` }) !== undefined) return holds();
  return doesNotHold(expected, `${answer.statusCode} ${probe.quoter.quote(reason)}`);
}
