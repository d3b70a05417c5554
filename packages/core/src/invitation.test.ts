import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { Invitation } from "./invitation.ts";

const token = "secret-token-0123456789";
const fields = {
  relayBaseUrl: "https://relay.example/agent-relay",
  sessionId: "canvas-1",
  token,
  surfaceId: "board",
  application: "canvas",
};

test("the token shows in no text of an invitation", () => {
  const invitation = new Invitation(fields);
  expect(invitation.exposeToken()).toBe(token);
  const texts = [
    String(invitation),
    JSON.stringify(invitation),
    inspect(invitation),
    inspect({ invitation }, { depth: 9, showHidden: true }),
    `${invitation}`,
  ];
  for (const text of texts) expect(text).not.toContain(token);
});

test.each([
  ["https://app.example/board?session=canvas-1&token=secret-token-0123456789", "https://app.example/agent-relay"],
  ["https://app.example/board?key=secret-token-0123456789&session=canvas-1#top", "https://app.example/agent-relay"],
  ["https://relay.example/agent-relay/canvas-1?token=secret-token-0123456789", "https://relay.example/agent-relay"],
  ["https://relay.example/a/b/canvas-1/inbox?token=secret-token-0123456789", "https://relay.example/a/b"],
  [
    "https://relay.example/agent-relay/canvas-1/events?key=secret-token-0123456789",
    "https://relay.example/agent-relay",
  ],
  ["https://relay.example/canvas-1/poll?token=secret-token-0123456789", "https://relay.example"],
  [
    "http://127.0.0.1:8080/agent-relay/canvas-1/outbox?token=secret-token-0123456789",
    "http://127.0.0.1:8080/agent-relay",
  ],
])("reads the share link %s", (link, relayBaseUrl) => {
  const invitation = Invitation.fromLink(link);
  expect(invitation).toMatchObject({ relayBaseUrl, sessionId: "canvas-1" });
  expect(invitation.exposeToken()).toBe(token);
});

describe("refuses, without quoting the link,", () => {
  test.each([
    ["a text that is no URL", "not a url"],
    ["a link without token", "https://app.example/board?session=canvas-1"],
    ["two tokens", "https://app.example/?session=canvas-1&token=secret-token-0123456789&key=secret-token-9876543210"],
    ["a password", "https://user:secret-token-0123456789@app.example/?session=canvas-1&token=secret-token-0123456789"],
    ["a link without session", "https://app.example/?token=secret-token-0123456789"],
    ["a short token", "https://app.example/?session=canvas-1&token=short"],
    ["a session with a slash", "https://app.example/?session=a%2Fbcd&token=secret-token-0123456789"],
    ["another scheme", "ftp://app.example/canvas-1?token=secret-token-0123456789"],
  ])("%s", (_, link) => {
    const attempt = () => Invitation.fromLink(link);
    expect(attempt).toThrow(expect.objectContaining({ code: "invalid_invitation", outcome: "not_applied" }));
    expect(attempt).not.toThrow(/secret-token|short/);
  });

  test.each([
    ["relayBaseUrl", { relayBaseUrl: "https://user:pw@relay.example/x" }],
    ["relayBaseUrl", { relayBaseUrl: "https://[" }],
    ["sessionId", { sessionId: "a b" }],
    ["token", { token: "t".repeat(129) }],
    ["surfaceId", { surfaceId: "" }],
    ["application", { application: undefined }],
  ])("a wrong %s, naming it", (name, change) => {
    expect(() => new Invitation({ ...fields, ...change } as never)).toThrow(
      expect.objectContaining({ code: "invalid_invitation", message: expect.stringContaining(name) }),
    );
  });
});
