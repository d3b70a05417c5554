import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  healthUrl,
  metricsUrl,
  pollOutboxUrl,
  pollUrl,
  type RouteName,
  registerUrl,
  routes,
  sendToAgentsUrl,
  sendToSurfaceUrl,
  streamEventsUrl,
  unregisterUrl,
} from "../src/gen/routes.ts";
import { matchRoute } from "../src/route.ts";

interface Query {
  readonly token?: string | undefined;
  readonly client?: string | undefined;
  readonly direction?: "inbound" | "outbound" | undefined;
  readonly wait?: number | undefined;
  readonly after?: string | undefined;
  readonly subscriber?: string | undefined;
}

const builders: Readonly<Record<RouteName, (base: string, session: string, query: Query) => string>> = {
  register: registerUrl,
  sendToSurface: sendToSurfaceUrl,
  sendToAgents: sendToAgentsUrl,
  streamEvents: streamEventsUrl,
  pollOutbox: pollOutboxUrl,
  poll: pollUrl,
  unregister: unregisterUrl,
  health: healthUrl,
  metrics: metricsUrl,
};

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
const bases = fc
  .tuple(
    fc.array(
      fc.stringMatching(/^[a-z0-9~.-]{1,8}$/).filter((part) => !/^\.+$/.test(part)),
      { maxLength: 3 },
    ),
    fc.nat(3),
  )
  .map(([mount, slashes]) => ({
    base: ["https://relay.example.com:8443", ...mount].join("/") + "/".repeat(slashes),
    mount: mount.map((part) => `/${part}`).join(""),
  }));
const queries: fc.Arbitrary<Query> = fc.record({
  token: fc.option(text, { nil: undefined }),
  client: fc.option(text, { nil: undefined }),
  direction: fc.constantFrom("inbound", "outbound", undefined),
  wait: fc.option(fc.nat(), { nil: undefined }),
  after: fc.option(text, { nil: undefined }),
  subscriber: fc.option(text, { nil: undefined }),
});

describe("URLs of routes", () => {
  test.each(Object.keys(routes) as RouteName[])("%s: what is put in comes out again", (name) => {
    const { method, address, query: parameters } = routes[name];
    const session = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_-]{4,64}$/),
      text.filter((value) => value !== "." && value !== ".."),
    );
    fc.assert(
      fc.property(bases, session, queries, ({ base, mount }, id, query) => {
        const url = new URL(builders[name](base, id, query));
        expect(url.pathname.startsWith(mount)).toBe(true);
        const path = url.pathname.slice(mount.length);
        expect(path).not.toContain("//");
        expect(path.startsWith("/")).toBe(true);
        expect(url.origin).toBe("https://relay.example.com:8443");
        expect(url.hash).toBe("");
        const expected = address.includes("{session}") ? id : undefined;
        expect(matchRoute(method, path)).toEqual({ kind: "route", name, session: expected });
        const sent = Object.keys(parameters).filter((parameter) => query[parameter as keyof Query] !== undefined);
        expect([...url.searchParams]).toEqual(
          sent.map((parameter) => [parameter, String(query[parameter as keyof Query])]),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("end in nothing where there is no query", () => {
    expect(healthUrl("https://relay.example.com")).toBe("https://relay.example.com/");
    expect(healthUrl("https://relay.example.com/agent-relay//")).toBe("https://relay.example.com/agent-relay/");
    expect(unregisterUrl("https://relay.example.com/", "canvas-7f3a", { token: undefined })).toBe(
      "https://relay.example.com/canvas-7f3a/unregister",
    );
  });

  test("put in the session as it is, replacement patterns included", () => {
    expect(pollUrl("https://relay.example.com", "$&$1", {})).toBe("https://relay.example.com/%24%26%241/poll");
    expect(pollUrl("https://relay.example.com", "{session}", {})).toBe("https://relay.example.com/%7Bsession%7D/poll");
  });
});

describe("matching a route", () => {
  test.each([
    ["POST", "/register", { kind: "route", name: "register", session: undefined }],
    ["POST", "/abcd/inbox", { kind: "route", name: "sendToSurface", session: "abcd" }],
    ["POST", "/abcd/outbox", { kind: "route", name: "sendToAgents", session: "abcd" }],
    ["GET", "/abcd/outbox", { kind: "route", name: "pollOutbox", session: "abcd" }],
    ["GET", "/abcd/events", { kind: "route", name: "streamEvents", session: "abcd" }],
    ["GET", "/abcd/poll", { kind: "route", name: "poll", session: "abcd" }],
    ["POST", "/abcd/unregister", { kind: "route", name: "unregister", session: "abcd" }],
    ["GET", "/", { kind: "route", name: "health", session: undefined }],
    ["GET", "", { kind: "route", name: "health", session: undefined }],
    ["GET", "/metrics", { kind: "route", name: "metrics", session: undefined }],
    ["POST", "/register/inbox", { kind: "route", name: "sendToSurface", session: "register" }],
    ["GET", "/a%2Fb/poll", { kind: "route", name: "poll", session: "a/b" }],
    ["GET", "/%252F/poll", { kind: "route", name: "poll", session: "%2F" }],
    ["GET", "/register", { kind: "method_not_allowed", allowed: ["POST"] }],
    ["DELETE", "/abcd/outbox", { kind: "method_not_allowed", allowed: ["POST", "GET"] }],
    ["get", "/abcd/poll", { kind: "method_not_allowed", allowed: ["GET"] }],
    ["GET", "/abcd", { kind: "not_found" }],
    ["GET", "/abcd/", { kind: "not_found" }],
    ["GET", "/abcd/nothing", { kind: "not_found" }],
    ["GET", "/abcd/poll/", { kind: "not_found" }],
    ["GET", "//poll", { kind: "not_found" }],
    ["GET", "/poll", { kind: "not_found" }],
    ["GET", "/a/b/poll", { kind: "not_found" }],
    ["GET", "/%/poll", { kind: "not_found" }],
    ["GET", "/%ff/poll", { kind: "not_found" }],
    ["GET", "/abcd/poll?token=t", { kind: "not_found" }],
  ] as const)("%s %s", (method, path, expected) => {
    expect(matchRoute(method, path)).toEqual(expected);
  });

  test("never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (method, path) => {
        expect(["route", "method_not_allowed", "not_found"]).toContain(matchRoute(method, `/${path}`).kind);
      }),
      { numRuns: 1_000 },
    );
  });
});
