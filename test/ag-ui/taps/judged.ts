import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";

/** One verdict: a client of this version took this body as the answer to this input. */
export interface Judgement {
  readonly version: string;
  readonly body: string;
  readonly input: AgUiRunInput;
}

const judged = new Set<string>();

/** So that the same bytes are not judged by the same client again. */
export function noteJudged(judgement: Judgement): void {
  judged.add(keyOf(judgement));
}

export function isJudged(judgement: Judgement): boolean {
  return judged.has(keyOf(judgement));
}

function keyOf({ version, body, input: { threadId, runId, messages } }: Judgement): string {
  return JSON.stringify([version, threadId, runId, messages.map(({ id }) => id), body]);
}
