import { Invitation } from "@human-plus/core";
import { authentication, jsonRpcVersion, methods, registerUrl } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import type { Answer } from "../http-client.ts";
import { doesNotHold, holds, unseen } from "../outcome.ts";
import { transportNames, transports } from "../transports.ts";
import { isAccepted } from "./answer.ts";
import type { RelayProbe } from "./relay-probe.ts";
import { createNotification, createRequest } from "./sample-frames.ts";

/** What browsers need, where the token goes, and whole exchanges: PROTOCOL.md sections 1, 2 and 2.1. */
export const browserChecks: readonly CheckDefinition<RelayProbe>[] = [
  {
    id: "relay.options",
    name: "OPTIONS is answered 204",
    section: "2",
    level: "must",
    async run(probe) {
      return probe.refusal(await preflight(probe, probe.origin ?? "https://conformance.invalid"), 204);
    },
  },
  {
    id: "relay.cors",
    name: "browsers of an origin may use the relay",
    section: "2",
    level: "must",
    async run(probe) {
      const { origin } = probe;
      if (origin === undefined) return unseen("the relay may allow some origins only: name one with --origin");
      const answers = [await preflight(probe, origin), await probe.get(registerUrl(probe.baseUrl), { origin })];
      for (const { headers } of answers) {
        const allowed = headers["access-control-allow-origin"];
        if (allowed !== "*" && allowed !== origin)
          return doesNotHold("access-control-allow-origin", probe.quoter.quote(allowed ?? "absent"));
      }
      return holds();
    },
  },
  {
    id: "relay.bearer",
    name: "the token is taken from an Authorization header",
    section: "2.1",
    level: "optional",
    run: (probe) =>
      probe.inSession(async (session) => {
        await session.leg();
        const headers = { authorization: `${authentication.headerScheme} ${session.token}` };
        const url = session.inboxUrl("one", null);
        const answer = await probe.post(url, JSON.stringify(createNotification()), headers);
        if (isAccepted(answer)) return holds();
        if (answer.status === 401) return unseen("the relay takes it from the query only, which it may");
        return doesNotHold("200 or 401", probe.answerToText(answer));
      }),
  },
  {
    id: "relay.token.hidden",
    name: "no answer holds the token",
    section: "1",
    level: "must",
    run: (probe) =>
      probe.inSession(async (session) => {
        const { id, token } = session;
        await session.leg();
        const root = probe.baseUrl.replace(/\/+$/, "");
        const query = `${authentication.queryParameter}=${token}`;
        const answers: readonly Answer[] = [
          await probe.register(id, token),
          await session.toSurface(createRequest(), "one"),
          await session.toSurface("{no json", "one"),
          await session.toAgents(createNotification()),
          await probe.get(`${root}/${id}/conformance-no-such-route?${query}`),
          await probe.get(`${root}/register?${query}`),
          await probe.get(`${root}/?${query}`),
          await session.unregister(),
          await session.toSurface(createRequest(), "one"),
        ];
        const telling = answers.filter(({ body, headers }) => `${body}${JSON.stringify(headers)}`.includes(token));
        return telling.length === 0 ? holds() : doesNotHold("none", `${telling.length} of ${answers.length} do`);
      }),
  },
  ...transportNames.map(
    (name): CheckDefinition<RelayProbe> => ({
      id: `relay.exchange.${name}`,
      name: `an agent over ${name} gets the answer to its request`,
      section: "2",
      level: name === "sse" || name === "auto" ? "must" : "optional",
      run: (probe) =>
        probe.inSession(async (session) => {
          const offered = (
            await Promise.all([
              session.pollOutbox({ wait: 0, client: "one" }),
              session.poll({ wait: 0, client: "one" }),
            ])
          ).map(({ status }) => status !== 404 && status !== 405);
          const needs = { "longpoll-outbox": offered[0], "longpoll-poll": offered[1], longpoll: offered.some(Boolean) };
          if (Object.hasOwn(needs, name) && !needs[name as keyof typeof needs])
            return unseen("the relay does not offer it, which it need not");
          const surface = await session.leg();
          const transport = transports[name]({ relayBaseUrl: probe.baseUrl, local: probe.local });
          try {
            const { id: sessionId, token } = session;
            const invitation = new Invitation({
              relayBaseUrl: probe.baseUrl,
              sessionId,
              token,
              surfaceId: "conformance",
              application: "conformance",
            });
            const request = { jsonrpc: jsonRpcVersion, id: crypto.randomUUID(), method: methods.ping } as const;
            const exchange = transport.exchange({ id: "one", invitation, client: "one" }, request, probe);
            const answer = async () => {
              await surface.frame("the request at the surface", (frame) => frame.id === request.id);
              await session.say("agents", { jsonrpc: jsonRpcVersion, id: request.id, result: {} });
            };
            await Promise.all([exchange, answer()]);
            return holds();
          } finally {
            await transport.close();
          }
        }),
    }),
  ),
];

function preflight(probe: RelayProbe, origin: string): Promise<Answer> {
  const headers = { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  return probe.http.ask({ method: "OPTIONS", url: registerUrl(probe.baseUrl), headers });
}
