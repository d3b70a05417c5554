const LF = 10;
const CR = 13;

/** Cuts a stream of bytes into lines that end with LF, CR or CRLF. */
export interface LineSplitter {
  feed(chunk: Uint8Array): void;
}

export interface LineSplitterOptions {
  /** What is kept of one line; the rest of a longer one is dropped. */
  maxBytes: number;
  /** Takes a line without its end. Its bytes are good until it returns. */
  onLine: (line: Uint8Array) => void;
}

/** Each byte is looked at once and copied at most twice, however small the chunks are. */
export function createLineSplitter({ maxBytes, onLine }: LineSplitterOptions): LineSplitter {
  let buffer = new Uint8Array(1_024);
  let kept = 0;
  let isAfterCr = false;

  function keep(bytes: Uint8Array): void {
    const part = bytes.length <= maxBytes - kept ? bytes : bytes.subarray(0, maxBytes - kept);
    if (kept + part.length > buffer.length) {
      const larger = new Uint8Array(Math.max(buffer.length * 2, kept + part.length));
      larger.set(buffer.subarray(0, kept));
      buffer = larger;
    }
    buffer.set(part, kept);
    kept += part.length;
  }

  function complete(rest: Uint8Array): Uint8Array {
    if (kept === 0) return rest.subarray(0, maxBytes);
    keep(rest);
    const line = buffer.subarray(0, kept);
    kept = 0;
    // A large buffer was for one large line.
    if (buffer.length > 65_536) buffer = new Uint8Array(1_024);
    return line;
  }

  return {
    feed(chunk) {
      let from = isAfterCr && chunk[0] === LF ? 1 : 0;
      if (chunk.length > 0) isAfterCr = false;
      // Each end is looked for again only once it was passed, so that a chunk without one is searched once.
      let lf = chunk.indexOf(LF, from);
      let cr = chunk.indexOf(CR, from);
      while (lf >= 0 || cr >= 0) {
        const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
        onLine(complete(chunk.subarray(from, end)));
        from = end + 1;
        if (end === cr) {
          if (from === chunk.length) isAfterCr = true;
          else if (chunk[from] === LF) from++;
        }
        if (lf >= 0 && lf < from) lf = chunk.indexOf(LF, from);
        if (cr >= 0 && cr < from) cr = chunk.indexOf(CR, from);
      }
      if (from < chunk.length) keep(from === 0 ? chunk : chunk.subarray(from));
    },
  };
}
