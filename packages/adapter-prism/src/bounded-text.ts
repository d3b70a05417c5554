const OPENING = /^<surface-data source="[^"\n]*" tool="[^"\n]*" nonce="([0-9a-f]{16})">$/;
const SHORTENED = " [shortened]";

/** A stretch of a text: what core says, or what stands between the lines of a frame. */
interface Stretch {
  text: string;
  readonly isFramed: boolean;
}

/**
 * Shortens a text to a number of UTF-8 bytes without ever losing the end of a frame: what a surface says is cut first, and
 * what is between frames stays as long as it fits. PROTOCOL.md section 7 has the lines of a frame.
 */
export function boundText(text: string, maxBytes: number): string {
  if (utf8Bytes(text) <= maxBytes) return text;
  const stretches = splitFrames(text);
  for (const framed of [...stretches]
    .filter(({ isFramed }) => isFramed)
    .sort((a, b) => b.text.length - a.text.length)) {
    const excess = utf8Bytes(join(stretches)) - maxBytes;
    if (excess > 0) framed.text = cut(framed.text, Math.max(0, utf8Bytes(framed.text) - excess));
  }
  const shortened = join(stretches);
  // Without room even for the frames, words of core alone are left: a frame that does not end would swallow what follows.
  if (utf8Bytes(shortened) <= maxBytes) return shortened;
  const [before = ""] = text.split(/^<surface-data /m, 1);
  return cut(before.trimEnd(), maxBytes);
}

/** Cuts at a number of bytes, never inside a character, and says so. */
export function cut(text: string, maxBytes: number): string {
  if (utf8Bytes(text) <= maxBytes) return text;
  const room = maxBytes - SHORTENED.length;
  if (room <= 0) return SHORTENED.trimStart().slice(0, Math.max(0, maxBytes));
  const bytes = new TextEncoder().encode(text).subarray(0, room);
  // An incomplete character at the end would be written as a replacement.
  return new TextDecoder().decode(bytes, { stream: true }) + SHORTENED;
}

export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function splitFrames(text: string): Stretch[] {
  const stretches: Stretch[] = [];
  let closing: string | undefined;
  let lines: string[] = [];
  const end = (isFramed: boolean) => {
    if (lines.length > 0) stretches.push({ text: lines.join("\n"), isFramed });
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (line === closing) {
      end(true);
      closing = undefined;
    }
    lines.push(line);
    const opened = closing === undefined ? OPENING.exec(line)?.[1] : undefined;
    if (opened === undefined) continue;
    closing = `</surface-data nonce="${opened}">`;
    end(false);
  }
  end(closing !== undefined);
  return stretches;
}

function join(stretches: readonly Stretch[]): string {
  return stretches.map(({ text }) => text).join("\n");
}
