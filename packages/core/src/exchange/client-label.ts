import { parseClientId, safeParseClientId } from "../gen/parsers.ts";

/** 64 random bits as text: what makes the labels of one engine its own. */
export function createLabelSuffix(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Names an agent so that no other process, and no other leg of this one, has the same name: a relay that serves one
 * client on two legs may give either of them the reply of the other.
 *
 * @throws HumanPlusError `malformed_message` where `client` is no client id
 */
export function clientLabel(client: string, suffix: string, ordinal: number): string {
  const tail = `.${suffix}.${ordinal.toString(36)}`;
  let head = parseClientId(client);
  while (head !== "" && !safeParseClientId(head + tail).ok) head = head.slice(0, -1);
  return parseClientId(head + tail);
}
