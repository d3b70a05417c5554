export interface Redactor {
  redact<T>(value: T): T;
}

const MAX_DEPTH = 32;

/** Replaces known secrets in values and keys, and what is too deep or circular by a word. */
export function createSecretRedactor(secrets: readonly string[]): Redactor {
  const clean = (text: string) => secrets.reduce((left, secret) => left.replaceAll(secret, "[REDACTED]"), text);
  const walk = (value: unknown, depth: number, above: readonly object[]): unknown => {
    if (typeof value === "string") return clean(value);
    if (typeof value !== "object" || value === null) return value;
    if (above.includes(value)) return "[Circular]";
    if (depth > MAX_DEPTH) return "[MaxDepth]";
    const next = (inner: unknown) => walk(inner, depth + 1, [...above, value]);
    if (Array.isArray(value)) return value.map(next);
    if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [clean(key), next(inner)]));
    if (value instanceof Set) return [...value].map(next);
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null && !(value instanceof Error)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), next(inner)]));
  };
  return { redact: <T>(value: T) => walk(value, 0, []) as T };
}
