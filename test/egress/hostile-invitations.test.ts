import { inspect } from "node:util";
import { Invitation } from "@human-plus/core";
import type { RelayEndpointOptions } from "@human-plus/core/relay";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ForbiddenListener, startForbiddenListener } from "./parts/forbidden-listener.ts";
import { type HostileInvitation, hostileInvitations } from "./parts/hostile-invitations.ts";
import { createInternet } from "./parts/internet.ts";
import { failureOf, linkTo, operations, SESSION, TOKEN } from "./parts/links.ts";
import { transports } from "./parts/transports.ts";

let forbidden: ForbiddenListener;
beforeAll(async () => {
  forbidden = await startForbiddenListener();
});
afterAll(() => forbidden[Symbol.asyncDispose]());

const at = (url: string) => url.replaceAll("PORT", String(forbidden.port));

/** Options under which nothing but the rule that a row is about stands against it. */
function optionsFor({
  egress,
  relayBaseUrl,
  allowedRelayHosts,
  allowedRelayPorts,
}: HostileInvitation): RelayEndpointOptions {
  const url = URL.canParse(at(relayBaseUrl)) ? new URL(at(relayBaseUrl)) : undefined;
  const host = url === undefined || url.hostname === "" || url.hostname.endsWith(".") ? [] : [url.hostname];
  return {
    egress:
      egress === "pinned"
        ? { direct: "pinned" }
        : egress === "proxy"
          ? { proxy: `http://127.0.0.1:${forbidden.port}` }
          : { unverified: true },
    allowedRelayHosts: allowedRelayHosts ?? ["relay.example", ...host.filter((name) => !/[^\w.:[\]-]/.test(name))],
    allowedRelayPorts: allowedRelayPorts ?? [443, 80, forbidden.port],
    onWarning: () => {},
  };
}

test("there are at least 150 of them, each another one", () => {
  expect(hostileInvitations.length).toBeGreaterThanOrEqual(150);
  expect(new Set(hostileInvitations.map((row) => JSON.stringify(row))).size).toBe(hostileInvitations.length);
});

describe.each(Object.entries(transports))("%s", (_, createTransport) => {
  test.each(hostileInvitations.map((row) => [row.egress, row.group, row.relayBaseUrl, row] as const))(
    "%s, %s: %j gets no byte",
    async (_egress, _group, relayBaseUrl, row) => {
      const internet = createInternet({ answer: async () => row.answer ?? [] });
      const { lookup, connect } = internet;
      const transport = createTransport({ ...optionsFor(row), lookup, connect });
      for (const [name, run] of Object.entries(operations)) {
        const error = await failureOf(run(transport, linkTo(at(relayBaseUrl))));
        const code = row.code ?? "endpoint_refused";
        expect(error, name).toMatchObject({ code, outcome: "not_applied", retryable: code === "relay_unreachable" });
        const text = inspect(error, { depth: 9, showHidden: true });
        expect(text).not.toContain(TOKEN);
        expect(text).not.toMatch(/:word|user@/);
      }
      await transport.close();
      expect(internet.dialled).toEqual([]);
      expect(internet.lookedUp.length > 0).toBe(row.answer !== undefined);
      expect({ connections: forbidden.connections, received: forbidden.received }).toEqual({
        connections: 0,
        received: "",
      });
    },
  );
});

test("an invitation takes them or says why not, and never quotes the token", () => {
  const fields = { sessionId: SESSION, token: TOKEN, surfaceId: "board", application: "canvas" };
  for (const { relayBaseUrl } of hostileInvitations) {
    try {
      new Invitation({ ...fields, relayBaseUrl });
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid_invitation", outcome: "not_applied" });
      expect(inspect(error, { depth: 9 })).not.toContain(TOKEN);
    }
  }
});

test("the same endpoint reaches what is allowed: the refusals above are not for want of a way out", async () => {
  const internet = createInternet({ answer: async () => ["8.8.8.8", "2606:4700::1111"] });
  for (const createTransport of Object.values(transports)) {
    const row: HostileInvitation = { group: "", egress: "pinned", relayBaseUrl: "https://relay.example" };
    const transport = createTransport({ ...optionsFor(row), lookup: internet.lookup, connect: internet.connect });
    const error = await failureOf(
      transport.notify(linkTo("https://relay.example"), { jsonrpc: "2.0", method: "x" }, { timeoutMs: 10_000 }),
    );
    expect(error).toMatchObject({ code: "relay_unreachable", outcome: "not_applied", retryable: true });
    await transport.close();
  }
  expect(new Set(internet.offered.map(String))).toEqual(new Set(["8.8.8.8,2606:4700::1111"]));
});
