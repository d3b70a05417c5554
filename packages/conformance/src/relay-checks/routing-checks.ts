import { type Frame, jsonRpcVersion, methods, relayErrorStatus } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import type { EventLeg } from "../event-leg.ts";
import { doesNotHold, holds, type Outcome } from "../outcome.ts";
import { isAccepted } from "./answer.ts";
import type { RelayProbe } from "./relay-probe.ts";
import { createNotification, createReply, createRequest } from "./sample-frames.ts";
import type { TestSession } from "./test-session.ts";

/** Who gets what: PROTOCOL.md sections 2.4 and 2.5. */
export const routingChecks: readonly CheckDefinition<RelayProbe>[] = [
  {
    id: "relay.routing.asker",
    name: "a response goes only to the client that asked",
    section: "2.4",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, surface, one, two }) => {
        const request = createRequest();
        await session.say("surface", request, "one");
        await surface.frame("the request at the surface", ({ id }) => id === request.id);
        await session.say("agents", createReply(request.id));
        await one.frame("the response at the client that asked", ({ id }) => id === request.id);
        await fence(session, one, two);
        if (count(two, request.id) === 0) return holds();
        return doesNotHold("nothing for the other client", "the other client got the response too");
      }),
  },
  {
    id: "relay.routing.once",
    name: "a response is delivered once",
    section: "2.4",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, one }) => {
        const ids = [createRequest(), createRequest(), createRequest()].map(({ id }) => id);
        for (const id of ids) await session.say("surface", { ...createRequest(), id }, "one");
        for (const id of ids) await session.say("agents", createReply(id));
        for (const id of ids) await one.frame("each response", (frame) => frame.id === id);
        await fence(session, one);
        const most = Math.max(...ids.map((id) => count(one, id)));
        return most === 1 ? holds() : doesNotHold("each response once", `one of them ${most} times`);
      }),
  },
  {
    id: "relay.routing.second-response",
    name: "a second response to the same request goes to nobody",
    section: "2.4",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, one, two }) => {
        const request = createRequest();
        await session.say("surface", request, "one");
        await session.say("agents", createReply(request.id));
        await session.toAgents(createReply(request.id));
        await fence(session, one, two);
        const got = [count(one, request.id), count(two, request.id)] as const;
        if (got[0] <= 1 && got[1] === 0) return holds();
        return doesNotHold("the first one for who asked", `${got[0]} for who asked, ${got[1]} for another client`);
      }),
  },
  {
    id: "relay.routing.unasked",
    name: "a response that nobody asked for goes to nobody",
    section: "2.4",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, one, two }) => {
        const { id } = createRequest();
        await session.toAgents(createReply(id));
        await fence(session, one, two);
        const got = count(one, id) + count(two, id);
        return got === 0 ? holds() : doesNotHold("nothing for anybody", `${got} of 2 clients got it`);
      }),
  },
  {
    id: "relay.routing.unlabelled",
    name: "labelled and unlabelled agents are served side by side",
    section: "2.1",
    level: "should",
    run: (probe) =>
      withAgents(probe, async ({ session, surface, one }) => {
        const unlabelled = await session.legOf(session.streamUrl({ direction: "outbound" }));
        const request = createRequest();
        await session.say("surface", request);
        await surface.frame("the request at the surface", ({ id }) => id === request.id);
        await session.say("agents", createReply(request.id));
        await unlabelled.frame("the response at the unlabelled agent", ({ id }) => id === request.id);
        await fence(session, one, unlabelled);
        if (count(one, request.id) === 0) return holds();
        return doesNotHold("nothing for the labelled agent", "it got the response too");
      }),
  },
  {
    id: "relay.routing.notifications",
    name: "notifications of the surface go to every agent, once",
    section: "2.4",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, one, two }) => {
        const { method } = await fence(session, one, two);
        await fence(session, one, two);
        const most = Math.max(
          ...[one, two].map((leg) => leg.frames().filter((frame) => frame.method === method).length),
        );
        return most === 1 ? holds() : doesNotHold("once", `${most} times`);
      }),
  },
  {
    id: "relay.routing.to-surface",
    name: "requests and notifications of agents go to the surface, and to no agent",
    section: "2.4",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, surface, one, two }) => {
        const request = createRequest();
        const notification = createNotification();
        await session.say("surface", request, "one");
        await session.say("surface", notification, "one");
        await surface.frame("the request at the surface", ({ id }) => id === request.id);
        await surface.frame("the notification at the surface", ({ method }) => method === notification.method);
        await fence(session, one, two);
        const isTheirs = (leg: EventLeg) =>
          leg.frames().some(({ id, method }) => id === request.id || method === notification.method);
        return isTheirs(one) || isTheirs(two) ? doesNotHold("nothing for agents", "an agent got it") : holds();
      }),
  },
  {
    id: "relay.routing.same-id",
    name: "a second unanswered request with the same id is refused",
    section: "2.4",
    level: "should",
    run: (probe) =>
      withAgents(probe, async ({ session, one, two }) => {
        const request = createRequest();
        await session.say("surface", request, "one");
        const answer = await session.toSurface(request, "two");
        if (!isAccepted(answer))
          return probe.refusal(answer, relayErrorStatus.request_id_in_flight, "request_id_in_flight");
        await session.say("agents", createReply(request.id));
        await fence(session, one, two);
        const got = [count(one, request.id), count(two, request.id)];
        const received = `200; of one response, ${got[0]} came to the first client and ${got[1]} to the second`;
        return doesNotHold("429 request_id_in_flight", received);
      }),
  },
  {
    id: "relay.presence.forged",
    name: "peers cannot send peer_joined and peer_left",
    section: "2.5",
    level: "must",
    run: (probe) =>
      withAgents(probe, async ({ session, surface, one, two }) => {
        const client = crypto.randomUUID();
        for (const method of [methods.peerJoined, methods.peerLeft]) {
          const forged = { jsonrpc: jsonRpcVersion, method, params: { client } } as const;
          await session.toSurface(forged, "one");
          await session.toAgents(forged);
        }
        await fence(session, one, two);
        const last = createNotification();
        await session.say("surface", last, "one");
        await surface.frame("a notification at the surface", ({ method }) => method === last.method);
        const passed = [surface, one, two].some((leg) => leg.frames().some((frame) => clientOf(frame) === client));
        return passed ? doesNotHold("dropped or refused", "passed on") : holds();
      }),
  },
  {
    id: "relay.presence.joined",
    name: "the surface is told once that a client joined",
    section: "2.5",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        await session.leg("one");
        const isJoin = joins(methods.peerJoined, "one");
        await surface.frame(`${methods.peerJoined} {client}`, isJoin);
        await session.leg("one");
        await session.leg("two");
        await surface.frame(`${methods.peerJoined} for another client`, joins(methods.peerJoined, "two"));
        const times = surface.frames().filter(isJoin).length;
        return times === 1 ? holds() : doesNotHold("once for a client with two legs", `${times} times`);
      }),
  },
  {
    id: "relay.presence.left",
    name: "the surface is told when a client unregisters",
    section: "2.5",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        const surface = await session.leg();
        await session.leg("one");
        await surface.frame(`${methods.peerJoined} {client}`, joins(methods.peerJoined, "one"));
        await session.unregister("one");
        await surface.frame(`${methods.peerLeft} {client}`, joins(methods.peerLeft, "one"));
        return holds();
      }),
  },
];

interface Room {
  readonly session: TestSession;
  readonly surface: EventLeg;
  readonly one: EventLeg;
  readonly two: EventLeg;
}

function withAgents(probe: RelayProbe, run: (room: Room) => Promise<Outcome>): Promise<Outcome> {
  return probe.inSession(async (session) => {
    const surface = await session.leg();
    return run({ session, surface, one: await session.leg("one"), two: await session.leg("two") });
  });
}

/** Sends a notification and waits for it: whatever was sent to these agents before has come by then. */
async function fence(session: TestSession, ...legs: EventLeg[]): Promise<{ method: string }> {
  const notification = createNotification();
  await session.say("agents", notification);
  await Promise.all(
    legs.map((leg) => leg.frame("a notification at every agent", ({ method }) => method === notification.method)),
  );
  return notification;
}

function count(leg: EventLeg, id: unknown): number {
  return leg.frames().filter((frame) => frame.method === undefined && frame.id === id).length;
}

function joins(method: string, client: string): Parameters<EventLeg["frame"]>[1] {
  return (frame) => frame.method === method && clientOf(frame) === client;
}

function clientOf(frame: Frame): unknown {
  return frame.method === undefined ? undefined : frame.params?.["client"];
}
