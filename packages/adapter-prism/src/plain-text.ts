/**
 * A text as every part of a host can keep it: databases refuse U+0000 in JSON, and providers whole requests for half a
 * surrogate pair. A surface can send both; the replacement character takes their place.
 */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}

export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}
