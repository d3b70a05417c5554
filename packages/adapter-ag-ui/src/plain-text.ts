/**
 * A text as every part of a host can keep it: databases refuse U+0000, and providers a whole history for half a surrogate
 * pair. Surfaces can send both; the replacement character takes their place.
 */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}
