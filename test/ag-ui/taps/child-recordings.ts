import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Recording, record } from "./recordings.ts";

export interface ChildRecordings extends Disposable {
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Has what was streamed since the last time judged with the test that runs. @returns how many streams there were */
  take(): number;
}

/** Has the streams judged that a program of ours makes in a process of its own. It runs as it stands, with this environment. */
export function recordChild(): ChildRecordings {
  const folder = mkdtempSync(join(tmpdir(), "ag-ui-streams-"));
  const file = join(folder, "streams.jsonl");
  const options = [process.env["NODE_OPTIONS"], `--import=${join(import.meta.dirname, "child.ts")}`];
  let taken = 0;
  return {
    env: { NODE_OPTIONS: options.filter(Boolean).join(" "), AG_UI_RECORDINGS: file },
    take() {
      if (!existsSync(file)) return 0;
      const lines = readFileSync(file, "utf8").split("\n").filter(Boolean).slice(taken);
      for (const line of lines) record(fromJson(line));
      taken += lines.length;
      return lines.length;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function toJson({ input, contentType, chunks, state }: Recording): string {
  const encoded = chunks.map((chunk) => Buffer.from(chunk).toString("base64"));
  return JSON.stringify({ input, contentType, chunks: encoded, state });
}

function fromJson(line: string): Recording {
  const { chunks, ...recording } = JSON.parse(line) as Omit<Recording, "chunks"> & { readonly chunks: string[] };
  return { ...recording, chunks: chunks.map((chunk) => Buffer.from(chunk, "base64")) };
}
