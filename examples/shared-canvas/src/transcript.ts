import { styleText } from "node:util";

/** Prints who did what, one line each. */
export interface Transcript {
  /** A line of its own, for what the reader should not miss. */
  title(text: string): void;
  /** What somebody did. */
  say(who: string, text: string): void;
  /** A line without anybody. */
  note(text: string): void;
}

const WIDTH = 8;

export function createTranscript(write: (text: string) => void): Transcript {
  return {
    title: (text) => write(`\n${styleText("bold", text)}\n`),
    say: (who, text) => write(`  ${styleText("cyan", printable(who).padEnd(WIDTH))} ${printable(text)}\n`),
    note: (text) => write(`  ${printable(text)}\n`),
  };
}

/** Words from a page must not steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}
