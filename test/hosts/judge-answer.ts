import type { BaseEvent, Message } from "@ag-ui/client";
import { assertGood } from "../ag-ui/judge.ts";

/** What was asked of a runtime. */
export interface Asked {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly Message[];
}

/**
 * Has the clients of every version judge what a runtime answered, as if it were the answer to each of them. They are those of
 * the repository: the runtime has another one.
 *
 * @returns the events in it
 */
export async function judgeAnswer(response: Response, input: Asked): Promise<BaseEvent[]> {
  const bytes = await response.text();
  if (!response.ok) throw new Error(`the runtime answered ${response.status}: ${bytes}`);
  const contentType = response.headers.get("content-type") ?? "";
  const { events } = await assertGood({ bytes, contentType }, { input: input as never });
  return events as unknown as BaseEvent[];
}
