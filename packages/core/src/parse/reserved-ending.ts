/** The names that belong to people. PROTOCOL.md section 7. */
export interface ReservedEndings {
  /** Lower-case words a name may not be, nor end in. */
  readonly words: readonly string[];
  /** Characters before which a word begins. */
  readonly separators: string;
  /** A camel-case hump begins a word as well. */
  readonly hump: boolean;
  /** Characters that are ignored at both ends. */
  readonly strip: string;
}

/** Whether a name is reserved: `confirm`, `terminal.confirm`, `terminalConfirm`; not `preconfirm`, not `confirmation_status`. */
export function isReserved(name: string, { words, separators, hump, strip }: ReservedEndings): boolean {
  let start = 0;
  let end = name.length;
  while (start < end && strip.includes(name.charAt(start))) start++;
  while (end > start && strip.includes(name.charAt(end - 1))) end--;
  const bare = name.slice(start, end);
  const lower = bare.toLowerCase();
  return words.some((word) => {
    if (!lower.endsWith(word)) return false;
    const at = bare.length - word.length;
    if (at <= 0) return true;
    return separators.includes(bare.charAt(at - 1)) || (hump && isHump(bare, at));
  });
}

function isHump(name: string, at: number): boolean {
  const isUpper = (index: number) => /[A-Z]/.test(name.charAt(index));
  return isUpper(at) && (/[a-z0-9]/.test(name.charAt(at - 1)) || !isUpper(at + 1));
}
