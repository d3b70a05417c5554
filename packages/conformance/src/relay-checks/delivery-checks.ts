import { eventStream, limits, relayErrorStatus } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import { createHttpClient } from "../http-client.ts";
import { doesNotHold, holds, unseen } from "../outcome.ts";
import { isAccepted } from "./answer.ts";
import type { RelayProbe } from "./relay-probe.ts";
import { createLargeFrame, createNotification, createReply, createRequest } from "./sample-frames.ts";

/** How long a relay may take to see that a connection was closed, in milliseconds. */
const NOTICED_MS = 250;

/** What becomes of frames that nobody takes at once, and of those that are too large: PROTOCOL.md sections 2.1 and 2.4. */
export const deliveryChecks: readonly CheckDefinition<RelayProbe>[] = [
  {
    id: "relay.kept.before-leg",
    name: "a response that comes before the leg is open is kept",
    section: "2.4",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        const request = createRequest();
        await session.say("surface", request, "one");
        await surface.frame("the request at the surface", ({ id }) => id === request.id);
        await session.say("agents", createReply(request.id));
        const late = await session.leg("one");
        await late.frame("the response on a leg that opens after it", ({ id }) => id === request.id);
        return holds();
      }),
  },
  {
    id: "relay.resume",
    name: "a stream that reconnects gets what it missed, and nothing twice",
    section: "2.4",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const first = await session.leg("one");
        const [seen, missed, later] = [createNotification(), createNotification(), createNotification()];
        await session.say("agents", seen);
        await first.frame("a notification", ({ method }) => method === seen.method);
        const cursor = first.cursor();
        first.close();
        await session.say("agents", missed);
        const second = await session.leg("one", cursor);
        await session.say("agents", later);
        await second.frame("what comes after reconnecting", ({ method }) => method === later.method);
        const frames = second.frames().map(({ method }) => method);
        if (!frames.includes(missed.method))
          return doesNotHold("the frame that came while the stream was away", "it was lost");
        if (cursor !== undefined && frames.includes(seen.method))
          return doesNotHold("only frames after Last-Event-ID", "a frame from before it came again");
        return holds(cursor === undefined ? "without cursors, which a relay need not send" : undefined);
      }),
  },
  {
    id: "relay.gap",
    name: "for a cursor that it does not know, a stream says that there is a gap",
    section: "2.4",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const first = await session.leg("one");
        const seen = createNotification();
        await session.say("agents", seen);
        await first.frame("a notification", ({ method }) => method === seen.method);
        if (first.cursor() === undefined) return unseen("the relay sends no cursors, which it need not");
        const second = await session.leg("one", `conformance-${crypto.randomUUID()}`);
        await second.part(
          `event: ${eventStream.gapEvent}`,
          (part) => part.kind === "event" && part.name === eventStream.gapEvent,
        );
        return holds();
      }),
  },
  {
    id: "relay.surface.reload",
    name: "a frame for a surface that has just left is kept for it",
    section: "2.4",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        const before = await session.leg();
        await before.part("the beginning of the stream", () => true);
        before.close();
        // A page that leaves is not seen leaving at once. What is written to it meanwhile is another matter.
        await new Promise((resolve) => setTimeout(resolve, NOTICED_MS));
        const request = createRequest();
        await session.say("surface", request, "one");
        const after = await session.leg();
        await after.frame("the frame on the surface's next leg", ({ id }) => id === request.id);
        return holds();
      }),
  },
  {
    id: "relay.surface.absent",
    name: "while no surface is there, a frame is refused as surface_absent",
    section: "2.4",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        const end = performance.now() + limits.surfaceGraceMs + 3_000;
        for (;;) {
          const answer = await session.toSurface(createNotification(), "one");
          if (!isAccepted(answer)) return probe.refusal(answer, relayErrorStatus.surface_absent, "surface_absent");
          const leftMs = end - performance.now();
          if (leftMs <= 0) {
            const received = `still accepted ${limits.surfaceGraceMs + 3_000} ms after the session began`;
            return doesNotHold(`503 surface_absent after ${limits.surfaceGraceMs} ms`, received);
          }
          await new Promise((resolve) => setTimeout(resolve, Math.min(500, leftMs)));
        }
      }),
  },
  {
    id: "relay.frame.largest",
    name: "a frame of the largest size is carried",
    section: "2.1",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        const frame = createLargeFrame();
        const answer = await session.toSurface(frame, "one");
        if (!isAccepted(answer))
          return doesNotHold(`${limits.frameBytes} bytes are accepted`, probe.answerToText(answer));
        const { method } = JSON.parse(frame) as { method: string };
        await surface.frame("the frame at the surface", (candidate) => candidate.method === method);
        return holds();
      }),
  },
  {
    id: "relay.frame.too-large",
    name: "a larger frame is refused with 413",
    section: "2.1",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const answer = await session.toSurface(createLargeFrame(limits.frameBytes + 1), "one");
        return probe.refusal(answer, relayErrorStatus.payload_too_large);
      }),
  },
  {
    id: "relay.frame.connection",
    name: "the connection that brought a frame that is too large is kept",
    section: "2.1",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const http = createHttpClient({ timeoutMs: probe.timeoutMs, keepAlive: true });
        try {
          const url = session.inboxUrl("one");
          const refused = await http.ask({ method: "POST", url, body: createLargeFrame(limits.frameBytes + 1) });
          const next = await http.ask({ method: "POST", url, body: JSON.stringify(createNotification()) });
          if (!isAccepted(next)) return doesNotHold("the next frame is accepted", probe.answerToText(next));
          if (next.reused) return holds();
          return doesNotHold(
            "the next request over the same connection",
            `${refused.status}, and the connection was closed`,
          );
        } finally {
          http.close();
        }
      }),
  },
];
