/** Longest quotation of foreign text, in characters. */
const MAX_QUOTED = 160;
/** Longest text of an outcome, in characters. */
const MAX_TEXT = 600;
/** Controls, invisible and direction-changing characters, and lone surrogates: what a terminal or a log could be misled with. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Makes foreign text safe to show. */
export interface Quoter {
  /** A value of somebody else's, as bounded JSON text. */
  quote(value: unknown): string;
  /** Takes secrets and unsafe characters out of a finished text, and bounds it. */
  clean(text: string): string;
}

/** @param secrets texts that are never shown, in no encoding a URL or JSON would give them; more may be added later */
export function createQuoter(secrets: readonly string[] = []): Quoter {
  function hide(text: string): string {
    const spellings = [...new Set(secrets.flatMap(spellingsOf))].sort((a, b) => b.length - a.length);
    return spellings.reduce((hidden, secret) => hidden.replaceAll(secret, "[token]"), text);
  }

  return {
    quote: (value) => escapeUnsafe(bound(hide(toText(value, hide)), MAX_QUOTED)),
    clean: (text) => escapeUnsafe(bound(hide(text), MAX_TEXT)),
  };
}

function spellingsOf(secret: string): string[] {
  const form = new URLSearchParams({ s: secret }).toString().slice(2);
  return [secret, encodeURIComponent(secret), form, encodeURI(secret), JSON.stringify(secret).slice(1, -1)];
}

function toText(value: unknown, hide: (text: string) => string): string {
  try {
    return JSON.stringify(value, (_key, part) => (typeof part === "string" ? hide(part) : part)) ?? String(value);
  } catch {
    return String(value);
  }
}

function bound(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length} characters)`;
}

function escapeUnsafe(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
