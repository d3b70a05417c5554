import { invalidArgument, requireInteger } from "../argument.ts";
import type { AgUiEvent, AgUiMessage } from "../events.ts";
import type { Awaitable, Projection, ProjectionLeg, ProjectionRun } from "../projection.ts";

export interface MessagesFromSessionOptions {
  /** The messages of the thread, the latest last, as they may be shown. */
  getMessages: (run: { readonly threadId: string; readonly runId: string }) => Awaitable<readonly AgUiMessage[]>;
  /** The latest that are shown: 1 to 1,024. @default 128 */
  maxMessages?: number | undefined;
}

/**
 * Shows the messages of a session: as a run begins if the client has none, and after each message and result. A transcript that
 * did not change is not sent again, and one that lacks a message of this stream is not sent yet: clients would drop it.
 *
 * @throws HumanPlusError `invalid_argument` that names the option
 */
export function createMessagesFromSessionProjection({
  getMessages,
  maxMessages = 128,
}: MessagesFromSessionOptions): Projection {
  if (typeof getMessages !== "function") throw invalidArgument("getMessages should be a function");
  requireInteger("maxMessages", maxMessages, { min: 1, max: 1_024 });
  return { open: (run) => new SessionMessages(run, getMessages, maxMessages) };
}

class SessionMessages implements ProjectionLeg {
  readonly #run: ProjectionRun;
  readonly #getMessages: MessagesFromSessionOptions["getMessages"];
  readonly #maxMessages: number;
  readonly #texts = new Set<string>();
  #isDue: boolean;
  #shown: string | undefined;

  constructor(run: ProjectionRun, getMessages: MessagesFromSessionOptions["getMessages"], maxMessages: number) {
    this.#run = run;
    this.#getMessages = getMessages;
    this.#maxMessages = maxMessages;
    this.#isDue = run.messages.length === 0;
  }

  async take(): Promise<AgUiEvent[]> {
    if (!this.#isDue) return [];
    this.#isDue = false;
    const { threadId, runId } = this.#run;
    const all = await this.#getMessages({ threadId, runId });
    const messages = all.slice(-this.#maxMessages);
    const ids = new Set(messages.map(({ id }) => id));
    if (![...this.#texts].every((id) => ids.has(id))) return [];
    const text = JSON.stringify(messages);
    if (text === this.#shown) return [];
    this.#shown = text;
    return [{ type: "MESSAGES_SNAPSHOT", messages }];
  }

  saw(event: AgUiEvent): void {
    if (event.type === "TEXT_MESSAGE_START") this.#texts.add(event.messageId);
    if (event.type !== "TEXT_MESSAGE_END" && event.type !== "TOOL_CALL_RESULT") return;
    this.#isDue = true;
    this.#run.onReady();
  }

  close(): void {
    this.#isDue = false;
  }
}
