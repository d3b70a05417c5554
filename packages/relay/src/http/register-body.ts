import {
  parseJsonText,
  type RegisterRequest,
  type RelayErrorCode,
  safeParseRegisterRequest,
} from "@human-plus/core/protocol";

/** Reads the body of `register`. A session or token that is there and malformed has a code of its own. */
export function readRegisterBody(text: string, maxBytes: number): RegisterRequest | RelayErrorCode {
  const parsed = parseJsonText(text, maxBytes);
  if (!parsed.ok) return "invalid_json";
  const read = safeParseRegisterRequest(parsed.value);
  if (read.ok) return read.value;
  const members = read.issues
    .filter(({ rule }) => rule !== "required" && rule !== "type")
    .map(({ pointer }) => pointer);
  if (members.includes("/session" satisfies `/${keyof RegisterRequest}`)) return "invalid_session_id";
  if (members.includes("/token" satisfies `/${keyof RegisterRequest}`)) return "invalid_token";
  return "missing_fields";
}
