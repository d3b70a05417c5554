const pattern = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const MAX_LENGTH = 128;

/** Ids of threads, runs, messages and calls. An id of an interrupt is a run's and a version, so it may be longer. */
export function isIdentifier(value: unknown, maxLength: number = MAX_LENGTH): value is string {
  return typeof value === "string" && value.length <= maxLength && pattern.test(value);
}

/** The id as clients can send it back: itself if it is one, else the same other one each time. */
export function toIdentifier(id: string): string {
  if (id.length <= MAX_LENGTH && pattern.test(id)) return id;
  const plain = id.slice(0, MAX_LENGTH - 10).replace(/[^A-Za-z0-9._:-]/g, "_");
  return `x${plain}-${hash(id)}`;
}

/** FNV-1a over UTF-16 code units: to tell ids apart, not to hide them. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}
