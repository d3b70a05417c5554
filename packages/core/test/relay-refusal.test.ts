import { describe, expect, test } from "vitest";
import { errorTable, relayErrorStatus, relayErrors } from "../src/gen/errors.ts";
import { readRelayRefusal } from "../src/relay-refusal.ts";

const body = (code: string) => JSON.stringify({ error: code });

// The table of PROTOCOL.md section 3, line by line.
const table: ReadonlyArray<
  readonly [status: number, body: string, error: string, outcome: string, retryable: boolean]
> = [
  [401, body("invalid_token"), "attachment_unauthorized", "not_applied", false],
  [401, body("invalid_token_or_frame"), "attachment_unauthorized", "not_applied", false],
  [401, body("session_taken"), "attachment_unauthorized", "not_applied", false],
  [401, body("invalid_session_id"), "attachment_unauthorized", "not_applied", false],
  [401, body("something_new"), "attachment_unauthorized", "not_applied", false],
  [401, "<html>", "attachment_unauthorized", "not_applied", false],
  [410, body("session_gone"), "surface_unavailable", "not_applied", false],
  [410, "", "surface_unavailable", "not_applied", false],
  [404, body("session_gone"), "surface_unavailable", "not_applied", false],
  [401, "event: error\ndata: session_gone\n\n", "surface_unavailable", "not_applied", false],
  [503, "<p>session_gone</p>", "surface_unavailable", "unknown", false],
  [302, "session_gone", "surface_unavailable", "unknown", false],
  [409, "", "surface_changed_under_you", "not_applied", false],
  [409, body("revision_mismatch"), "surface_changed_under_you", "not_applied", false],
  [400, body("invalid_json"), "relay_protocol_error", "not_applied", false],
  [400, body("missing_fields"), "relay_protocol_error", "not_applied", false],
  [400, body("missing_session"), "relay_protocol_error", "not_applied", false],
  [400, "", "relay_protocol_error", "not_applied", false],
  [404, body("not_found"), "relay_protocol_error", "not_applied", false],
  [404, "", "relay_protocol_error", "not_applied", false],
  [405, body("method_not_allowed"), "relay_protocol_error", "not_applied", false],
  [405, "", "relay_protocol_error", "not_applied", false],
  [413, body("payload_too_large"), "frame_too_large", "not_applied", false],
  [413, "", "frame_too_large", "not_applied", false],
  [503, body("surface_absent"), "surface_absent", "not_applied", true],
  [429, body("too_many_in_flight"), "relay_busy", "not_applied", true],
  [429, "slow down", "relay_busy", "not_applied", true],
  [503, body("shutting_down"), "relay_busy", "not_applied", true],
  [503, "", "relay_busy", "not_applied", true],
  [500, body("internal_error"), "relay_failed", "unknown", false],
  [502, "bad gateway", "relay_failed", "unknown", false],
  [504, "", "relay_failed", "unknown", false],
  [301, "", "relay_protocol_error", "unknown", false],
  [307, "", "relay_protocol_error", "unknown", false],
  [403, "", "relay_protocol_error", "not_applied", false],
  [418, body("teapot"), "relay_protocol_error", "not_applied", false],
];

describe("a relay's refusal", () => {
  test.each(table)("%i %j is %s, %s, retryable: %s", (status, text, error, outcome, retryable) => {
    expect(readRelayRefusal(status, text)).toMatchObject({ error, outcome, retryable });
  });

  test("that the contract knows nothing of leaves the outcome open", () => {
    for (const status of [0, 100, 200, 600, Number.NaN]) {
      expect(readRelayRefusal(status, "")).toEqual({
        error: "relay_protocol_error",
        outcome: "unknown",
        retryable: false,
        relayCode: undefined,
      });
    }
  });

  test("passes on the codes of the contract, and no other text of the relay", () => {
    expect(readRelayRefusal(401, body("invalid_token")).relayCode).toBe("invalid_token");
    expect(readRelayRefusal(401, body("surface_absent")).relayCode).toBe("surface_absent");
    for (const text of [body("tok_live_0123456789"), body("constructor"), '{"error":401}', "invalid_token", "{", ""])
      expect(readRelayRefusal(401, text).relayCode).toBeUndefined();
  });

  test("is not searched in a body that is no longer a refusal but a download", () => {
    const large = `${" ".repeat(65_536)}session_gone`;
    expect(readRelayRefusal(503, large).error).toBe("relay_busy");
    expect(readRelayRefusal(503, large.slice(-65_536)).error).toBe("surface_unavailable");
  });

  test("has, line by line, an outcome and an answer to a retry that its error allows", () => {
    for (const { error, outcome, retryable } of relayErrors) {
      expect(errorTable[error].outcome).toContain(outcome);
      if (retryable) expect(outcome).toBe("not_applied");
    }
  });

  test("is read back for every code that the relay of this project sends", () => {
    for (const [code, status] of Object.entries(relayErrorStatus)) {
      const rule = relayErrors.find((candidate) => candidate.sentByRelay && candidate.code === code);
      expect(readRelayRefusal(status, body(code))).toMatchObject({ error: rule?.error, relayCode: code });
    }
  });
});
