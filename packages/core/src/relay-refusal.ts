import { type RelayErrorRule, relayErrors } from "./gen/errors.ts";
import { safeParseRelayErrorBody } from "./gen/parsers.ts";
import { parseJsonText } from "./parse/json.ts";

/** What a relay's refusal means for the call that met it. */
export interface RelayRefusal extends Pick<RelayErrorRule, "error" | "outcome" | "retryable"> {
  /** The code the relay gave, where the contract knows it. Another one is the relay's own text and is not passed on. */
  readonly relayCode: string | undefined;
}

const MAX_BODY_BYTES = 65_536;

/**
 * Judges an answer that is no success by its status and body: the first rule of the contract's error table that
 * matches decides. PROTOCOL.md section 3.
 *
 * @param status HTTP status, 300 or above
 * @param body the body as text; beyond 64 KiB it is not looked at
 */
export function readRelayRefusal(status: number, body: string): RelayRefusal {
  const text = body.length <= MAX_BODY_BYTES ? body : "";
  const code = relayCodeOf(text);
  const rule = relayErrors.find((candidate) => matches(candidate, status, code, text));
  if (rule === undefined)
    return { error: "relay_protocol_error", outcome: "unknown", retryable: false, relayCode: undefined };
  const { error, outcome, retryable } = rule;
  return { error, outcome, retryable, relayCode: relayErrors.some((known) => known.code === code) ? code : undefined };
}

function matches(rule: RelayErrorRule, status: number, code: string | undefined, body: string): boolean {
  const isStatus =
    typeof rule.status === "number" ? rule.status === status : rule.status === `${Math.floor(status / 100)}xx`;
  if (!isStatus) return false;
  if (rule.code !== undefined && rule.code !== code) return false;
  return rule.bodyContains === undefined || body.includes(rule.bodyContains);
}

function relayCodeOf(body: string): string | undefined {
  const parsed = parseJsonText(body, MAX_BODY_BYTES);
  const read = parsed.ok ? safeParseRelayErrorBody(parsed.value) : parsed;
  return read.ok ? read.value.error : undefined;
}
