import type { BaseEvent, Interrupt } from "@ag-ui/client";
import { type CallEnd, callEnd, type ProposalEnd, proposalEnd } from "../../call-words.ts";

/** One line of the conversation. Texts in it are somebody's words: show them as text and nothing else. */
export type LogItem = TextItem | StepItem | ProposalItem;

interface TextItem {
  readonly kind: "person" | "agent" | "fault";
  readonly key: string;
  readonly text: string;
}

export interface StepItem {
  readonly kind: "step";
  readonly key: string;
  readonly name: string;
  readonly state: CallEnd["state"] | ProposalEnd | "working" | "waiting" | "stopped";
  /** What the agent reads of it. */
  readonly answer?: string | undefined;
}

export interface ProposalItem {
  readonly kind: "proposal";
  readonly key: string;
  readonly interruptId: string;
  readonly proposalId: string;
}

/** The conversation of one thread, told by events as they come. */
export interface ConversationLog {
  readonly items: readonly LogItem[];
  said(text: string): void;
  on(event: BaseEvent): void;
  /** Something failed outside of a stream. */
  failed(text: string): void;
  /** Takes a proposal off, once there is nothing to decide any more. */
  settled(interruptId: string): void;
}

type Fields = Readonly<Record<string, unknown>>;

export function createConversationLog(): ConversationLog {
  let items: readonly LogItem[] = [];
  let openStep: string | undefined;
  let count = 0;
  /** The step that a call was made in, by call. */
  const stepOf = new Map<string, string>();

  const key = () => `item-${++count}`;
  const add = (item: LogItem) => {
    items = [...items, item];
  };
  const append = (at: string, delta: string) => {
    items = items.map((item) =>
      item.key === at && item.kind === "agent" ? { ...item, text: item.text + delta } : item,
    );
  };
  const answered = (at: string | undefined, answer: string) => {
    const end = proposalEnd(answer) ?? callEnd(answer).state;
    items = items.map((item) => {
      if (item.key !== at || item.kind !== "step") return item;
      return { ...item, state: item.state === "stopped" ? item.state : end, answer };
    });
  };

  /** Steps that got no answer in a run that is over. */
  function endSteps(state: StepItem["state"]): void {
    items = items.map((item) => (item.kind === "step" && item.state === "working" ? { ...item, state } : item));
    openStep = undefined;
  }

  function finished({ outcome }: Fields): void {
    const interrupts = (outcome as { interrupts?: readonly Interrupt[] } | undefined)?.interrupts ?? [];
    endSteps(interrupts.length > 0 ? "waiting" : "stopped");
    for (const { id: interruptId, reason, metadata } of interrupts) {
      const ours = metadata?.["humanplus"] as { proposalId?: unknown } | undefined;
      if (reason !== "humanplus:proposal" || typeof ours?.proposalId !== "string") continue;
      if (items.some((item) => item.kind === "proposal" && item.interruptId === interruptId)) continue;
      add({ kind: "proposal", key: key(), interruptId, proposalId: ours.proposalId });
    }
  }

  return {
    get items() {
      return items;
    },
    said: (text) => add({ kind: "person", key: key(), text }),
    failed(text) {
      endSteps("stopped");
      add({ kind: "fault", key: key(), text });
    },
    settled(interruptId) {
      items = items.filter((item) => item.kind !== "proposal" || item.interruptId !== interruptId);
    },
    on(event) {
      const fields = event as unknown as Fields;
      const id = String(fields["toolCallId"] ?? fields["messageId"]);
      switch (String(event.type)) {
        case "STEP_STARTED":
          openStep = key();
          return add({ kind: "step", key: openStep, name: String(fields["stepName"]), state: "working" });
        case "TOOL_CALL_START":
          if (openStep !== undefined) stepOf.set(id, openStep);
          return;
        case "TOOL_CALL_RESULT":
          return answered(stepOf.get(id), String(fields["content"]));
        case "STEP_FINISHED":
          openStep = undefined;
          return;
        case "TEXT_MESSAGE_START":
          return add({ kind: "agent", key: id, text: "" });
        case "TEXT_MESSAGE_CONTENT":
          return append(id, String(fields["delta"]));
        case "RUN_FINISHED":
          return finished(fields);
        case "RUN_ERROR":
          endSteps("stopped");
          if (fields["code"] === "abort") return add({ kind: "fault", key: key(), text: "Stopped." });
          return add({ kind: "fault", key: key(), text: `The run failed: ${String(fields["message"])}` });
      }
    },
  };
}
