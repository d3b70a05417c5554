import { HttpAgent, type Interrupt, type Message, type RunAgentParameters } from "@ag-ui/client";
import type { DecisionOutcome } from "../decision-channel.ts";
import { type ConversationLog, createConversationLog, type ProposalItem } from "./conversation-log.ts";
import type { ProposalDesk } from "./proposal-desk.ts";

type ResumeEntry = NonNullable<RunAgentParameters["resume"]>[number];

/** One conversation with the agent. */
export interface Chat {
  readonly log: ConversationLog;
  readonly isRunning: boolean;
  /** Proposals wait for the person: until they are decided, the thread cannot go on. */
  readonly isWaiting: boolean;
  /** What the surface's activity holds. */
  readonly activity: unknown;
  say(text: string): void;
  stop(): void;
  isAnswered(item: ProposalItem): boolean;
  decide(item: ProposalItem, accept: boolean): void;
  skip(item: ProposalItem): void;
}

export interface ChatOptions {
  /** Where the agent is. */
  url: string;
  desk: ProposalDesk;
  /** Called when there is something new to show. */
  onChange: () => void;
}

export function createChat({ url, desk, onChange }: ChatOptions): Chat {
  const agent = new HttpAgent({ url, threadId: crypto.randomUUID() });
  const log = createConversationLog();
  /** What is answered so far: one resume has to cover all that waits. */
  const answers = new Map<string, ResumeEntry>();
  const answering = new Set<string>();
  let activity: unknown;
  let isRunning = false;

  agent.subscribe({
    onEvent({ event }) {
      log.on(event);
      onChange();
    },
    onMessagesChanged({ messages }) {
      activity = activityOf(messages) ?? activity;
      onChange();
    },
  });
  desk.subscribe(() => {
    for (const item of waiting()) if (desk.isGone(item.proposalId)) answer(item, "unknown", false);
    onChange();
  });

  const waiting = (): ProposalItem[] =>
    log.items.filter((item) => item.kind === "proposal").filter(({ interruptId }) => !answering.has(interruptId));

  /** A promise that holds proves nothing of a run: how it ended, its events say. */
  async function run(parameters: RunAgentParameters): Promise<void> {
    isRunning = true;
    onChange();
    try {
      await agent.runAgent(parameters);
    } catch (error) {
      log.failed(`The agent cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
    }
    isRunning = false;
    onChange();
  }

  /** Tells the agent that it can go on. What became of its proposal it learns from the canvas, not from this. */
  function answer(item: ProposalItem, outcome: DecisionOutcome, approved: boolean): void {
    const { interruptId } = item;
    answering.add(interruptId);
    answers.set(
      interruptId,
      outcome === "unknown" || outcome === "expired"
        ? { interruptId, status: "cancelled" }
        : { interruptId, status: "resolved", payload: { approved } },
    );
    const resume = agent.pendingInterrupts.flatMap(({ id }: Interrupt) => answers.get(id) ?? []);
    if (resume.length < agent.pendingInterrupts.length) return;
    for (const { interruptId: id } of resume) log.settled(id);
    answers.clear();
    answering.clear();
    void run({ resume });
  }

  async function decide(item: ProposalItem, accept: boolean): Promise<void> {
    const summary = desk.find(item.proposalId)?.summary;
    if (summary === undefined || answering.has(item.interruptId)) return;
    answering.add(item.interruptId);
    onChange();
    const outcome = await desk.decide(item.proposalId, accept);
    log.said(`${accept ? "Accept" : "Reject"}: ${summary}`);
    answer(item, outcome, accept);
  }

  return {
    log,
    get isRunning() {
      return isRunning;
    },
    get isWaiting() {
      return log.items.some(({ kind }) => kind === "proposal");
    },
    get activity() {
      return activity;
    },
    say(text) {
      log.said(text);
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
      void run({});
    },
    stop: () => agent.abortRun(),
    isAnswered: ({ interruptId }) => answering.has(interruptId),
    decide: (item, accept) => void decide(item, accept),
    skip: (item) => answer(item, "unknown", false),
  };
}

function activityOf(messages: readonly Message[]): unknown {
  return messages.findLast((message) => message.role === "activity" && message.activityType === "humanplus.surface")
    ?.content;
}
