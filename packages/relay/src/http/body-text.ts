const decoder = new TextDecoder("utf-8", { fatal: true });

/** Bytes as UTF-8 text without a byte order mark; `undefined` if they are not UTF-8. */
export function decodeBody(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes of a body over the cap that are read and thrown away so that the connection can be kept. */
export const maxDiscardedBytes = 16_777_216;
