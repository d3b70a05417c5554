import { authentication, healthUrl, metricsUrl, registerUrl, relayErrorStatus } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import type { Answer } from "../http-client.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import { codeOf, isAccepted } from "./answer.ts";
import type { RelayProbe } from "./relay-probe.ts";
import { createNotification, createRequest } from "./sample-frames.ts";
import type { TestSession } from "./test-session.ts";

/** Sessions, tokens and refusals: PROTOCOL.md sections 2.1 and 3. */
export const sessionChecks: readonly CheckDefinition<RelayProbe>[] = [
  {
    id: "relay.health",
    name: "the health route answers 200",
    section: "2",
    level: "must",
    async run(probe) {
      return probe.refusal(await probe.get(healthUrl(probe.baseUrl)), 200);
    },
  },
  {
    id: "relay.metrics",
    name: "metrics name no session and no token",
    section: "2",
    level: "optional",
    run: (probe) =>
      probe.inSession(async ({ id, token }) => {
        const answer = await probe.get(metricsUrl(probe.baseUrl));
        if (answer.status !== 200) return unseen("the relay offers no metrics, which it need not");
        if (!answer.body.includes(id) && !answer.body.includes(token)) return holds();
        return doesNotHold("numbers", "the session or its token is in the text");
      }),
  },
  {
    id: "relay.register",
    name: "register opens a session",
    section: "2.1",
    level: "must",
    run: (probe) => probe.inSession(async () => holds()),
  },
  {
    id: "relay.register.again",
    name: "register again with the same token is a success",
    section: "2.1",
    level: "must",
    run: (probe) => probe.inSession(async ({ id, token }) => accepted(probe, await probe.register(id, token))),
  },
  {
    id: "relay.register.taken",
    name: "register with another token is refused as session_taken",
    section: "2.1",
    level: "must",
    run: (probe) =>
      probe.inSession(async ({ id }) => {
        const answer = await probe.register(id, probe.credentials().token);
        return probe.refusal(answer, relayErrorStatus.session_taken, "session_taken");
      }),
  },
  {
    id: "relay.register.session-id",
    name: "an id that no session can have is refused",
    section: "3",
    level: "must",
    async run(probe) {
      const answer = await probe.register("no such id!", probe.credentials().token);
      return probe.refusal(answer, relayErrorStatus.invalid_session_id, "invalid_session_id");
    },
  },
  {
    id: "relay.register.token",
    name: "a token that is too short is refused",
    section: "3",
    level: "must",
    async run(probe) {
      const answer = await probe.register(probe.credentials().id, "short");
      return probe.refusal(answer, relayErrorStatus.invalid_token, "invalid_token");
    },
  },
  {
    id: "relay.register.json",
    name: "a body that is no JSON, or lacks members, is a wrong request",
    section: "3",
    level: "must",
    async run(probe) {
      const url = registerUrl(probe.baseUrl);
      const outcome = probe.refusal(await probe.post(url, "{no json"), relayErrorStatus.invalid_json);
      if (outcome.status !== "holds") return outcome;
      return probe.refusal(await probe.post(url, "{}"), relayErrorStatus.missing_fields);
    },
  },
  {
    id: "relay.send",
    name: "frames of both sides are accepted with {ok: true}",
    section: "2",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const outcome = accepted(probe, await session.toSurface(createRequest(), "one"));
        return outcome.status === "holds" ? accepted(probe, await session.toAgents(createNotification())) : outcome;
      }),
  },
  {
    id: "relay.frame.malformed",
    name: "a body that is no frame is a wrong request, not a wrong token",
    section: "3",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const outcome = probe.refusal(await session.toSurface("{no json", "one"), relayErrorStatus.invalid_json);
        if (outcome.status !== "holds") return outcome;
        return probe.refusal(await session.toSurface("[1]", "one"), relayErrorStatus.missing_fields);
      }),
  },
  {
    id: "relay.token.wrong",
    name: "a wrong token on a live session is 401 on every route",
    section: "3",
    level: "must",
    run: (probe) => probe.inSession((session) => everywhere(probe, session, probe.credentials().token, 401)),
  },
  {
    id: "relay.gone",
    name: "a session that ended is gone (410), on every route",
    section: "3",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.unregister();
        return everywhere(probe, session, session.token, 410);
      }),
  },
  {
    id: "relay.unregister.gone",
    name: "unregister from a session that is gone is a success",
    section: "2.1",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.unregister();
        const answer = await session.unregister("one");
        return isAccepted(answer) || isGone(answer)
          ? holds()
          : doesNotHold("200, or 410 session_gone", probe.answerToText(answer));
      }),
  },
  {
    id: "relay.unregister.client",
    name: "unregister with a client leaves the others alone",
    section: "2.1",
    level: "should",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        await session.leg("leaves");
        const stays = await session.leg("stays");
        const left = await session.unregister("leaves");
        if (!isAccepted(left)) return doesNotHold("{ok: true}", probe.answerToText(left));
        const notification = createNotification();
        const answer = await session.toAgents(notification);
        if (!isAccepted(answer))
          return doesNotHold("the session goes on", `its surface is answered ${probe.answerToText(answer)}`);
        await stays.frame("the other agent still hears the surface", ({ method }) => method === notification.method);
        return holds();
      }),
  },
  {
    id: "relay.unknown-route",
    name: "an unknown path is 404",
    section: "3",
    level: "must",
    run: (probe) =>
      probe.inSession(async ({ id, token }) => {
        const query = `${authentication.queryParameter}=${token}`;
        const url = `${probe.baseUrl.replace(/\/+$/, "")}/${id}/conformance-no-such-route?${query}`;
        return probe.refusal(await probe.get(url), relayErrorStatus.not_found);
      }),
  },
  {
    id: "relay.method",
    name: "a known path with another method is 405",
    section: "3",
    level: "should",
    async run(probe) {
      return probe.refusal(await probe.get(registerUrl(probe.baseUrl)), relayErrorStatus.method_not_allowed);
    },
  },
];

function accepted(probe: RelayProbe, answer: Answer): Outcome {
  return isAccepted(answer) ? holds() : doesNotHold("200 or 202 {ok: true}", probe.answerToText(answer));
}

function isGone(answer: Answer): boolean {
  return answer.status === 410 || codeOf(answer) === "session_gone";
}

/** Uses a token on every route that takes one; polls count only where they are offered. */
async function everywhere(probe: RelayProbe, session: TestSession, token: string, status: 401 | 410): Promise<Outcome> {
  const asks: Readonly<Record<string, () => Promise<Answer>>> = {
    "POST inbox": () => session.toSurface(createRequest(), "one", token),
    "POST outbox": () => session.toAgents(createNotification(), token),
    "GET events": () => probe.get(session.streamUrl({ client: "one", direction: "outbound", token })),
    "GET outbox": () => session.pollOutbox({ token, client: "one", wait: 0 }),
    "GET poll": () => session.poll({ token, client: "one", wait: 0 }),
  };
  for (const [route, ask] of Object.entries(asks)) {
    const answer = await ask();
    const isPoll = route === "GET outbox" || route === "GET poll";
    if (isPoll && (answer.status === 404 || answer.status === 405)) continue;
    if (status === 410 ? isGone(answer) : answer.status === status && !isGone(answer)) continue;
    const expected = status === 410 ? "410 session_gone" : "401";
    return doesNotHold(`${expected} for ${route}`, probe.answerToText(answer));
  }
  return holds();
}
