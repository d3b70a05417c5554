import { sha256 } from "@noble/hashes/sha2.js";

/** SHA-256 of a token; the token itself is not kept. */
export function hashToken(token: string): Uint8Array {
  return sha256(new TextEncoder().encode(token));
}

/** Takes the same time wherever the two differ. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  return difference === 0;
}
