/** Bytes of an answer that are looked at. */
const MAX_ANSWER_BYTES = 65_536;

/** Collects the body of a short answer. */
export interface BoundedBody {
  /** Whether it is still within its bound. */
  add(chunk: Buffer): boolean;
  text(): string;
}

export function createBoundedBody(maxBytes: number = MAX_ANSWER_BYTES): BoundedBody {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      bytes += chunk.length;
      if (bytes > maxBytes) return false;
      chunks.push(chunk);
      return true;
    },
    text: () => (bytes === 0 || bytes > maxBytes ? "" : Buffer.concat(chunks).toString("utf8")),
  };
}
