import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { Reading } from "@human-plus/core";
import type { Observable } from "rxjs";
import { AgentProblems } from "./agent-problems.ts";
import { texts } from "./call-text.ts";
import { answerTo, applyEvents, placeAnswers, type ToolAnswer } from "./history.ts";
import { InnerEvents, type StreamedCall } from "./inner-events.ts";
import { type InnerEnd, runAgent } from "./inner-run.ts";
import type { PendingProposal } from "./proposal-desk.ts";
import { takeProposal } from "./proposal-intake.ts";
import type { RunOutput } from "./run-output.ts";
import { isOursByName, suspends, withInterrupts, withoutPending, withoutRequests } from "./run-rules.ts";
import type { SurfaceFault, SurfaceSettings } from "./settings.ts";
import { type CallOutcome, SurfaceCalls } from "./surface-calls.ts";
import type { SurfaceView } from "./surface-view.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import type { ToolOffer } from "./tool-offer.ts";

export interface SurfaceRoundsOptions {
  readonly settings: SurfaceSettings;
  readonly view: SurfaceView;
  readonly memory: ThreadMemory;
  readonly offer: ToolOffer;
  /** What the agent has read by the first round. */
  readonly reading: Reading | undefined;
  readonly output: RunOutput;
  readonly signal: AbortSignal;
  /** The peer said `protocolVersion`. */
  readonly peerIsNew: boolean;
  /** Runs the agent, with chunks expanded. */
  readonly runNext: (input: RunAgentInput, problems: AgentProblems) => Observable<BaseEvent>;
  /** A run's context, with what happened on the surface in it. */
  readonly contextOf: (input: RunAgentInput) => RunAgentInput["context"];
  readonly onFault: (stage: SurfaceFault["stage"], error: unknown) => void;
}

/** The agent's run, and with every answer that it needs the next one: rounds, until it makes no more calls of ours. */
export class SurfaceRounds {
  readonly #options: SurfaceRoundsOptions;
  readonly #calls: SurfaceCalls;
  readonly #problems: AgentProblems;

  constructor(options: SurfaceRoundsOptions) {
    const { view, memory, settings, reading, signal, onFault } = options;
    this.#options = options;
    this.#problems = new AgentProblems((error) => onFault("agent", error));
    const onError = (error: unknown) => onFault("call", error);
    this.#calls = new SurfaceCalls({ session: view.session, memory, settings, reading, signal, onError });
  }

  async run(first: RunAgentInput): Promise<void> {
    let input: RunAgentInput | undefined = first;
    for (let round = 1; input !== undefined; round++)
      input = await this.#round(input, round >= this.#options.settings.maxIterations);
  }

  close(): void {
    this.#calls.close();
  }

  /**
   * One round. It begins with what the agent is told, in `input`: its calls are decided on that, and pinned to what was read
   * for it. They are made when the agent has ended, and the round ends when the agent is shown their answers.
   *
   * @returns what the next round is told; nothing where the run is over, or was given up
   */
  async #round(input: RunAgentInput, isLast: boolean): Promise<RunAgentInput | undefined> {
    const { settings, output, signal, reading, runNext, contextOf } = this.#options;
    const events = new InnerEvents();
    const agent = runNext(input, this.#problems);
    const end = await runAgent(agent, { output, events, problems: this.#problems, signal });
    if (signal.aborted) return undefined;
    const open = events.unanswered();
    const own = this.#ownOf(open, end, input);
    if (end.type !== "finished" || events.hasOpenCall) return this.#fail(own, end, events);
    this.#closeLeftOpen(events);
    const { answers, waiting } = await this.#answer(own, isLast);
    if (signal.aborted) return undefined;
    if (waiting.length > 0) {
      const interrupts = waiting.map(({ interrupt }) => interrupt);
      output.finish(withInterrupts(end.event, interrupts));
      return undefined;
    }
    const handsOver = own.length === 0 || own.length < open.length || isLast || suspends(end.event);
    if (handsOver) {
      output.finish(withoutPending(end.event, own));
      return undefined;
    }
    const { messages, state } = await applyEvents(input, events.history);
    if (signal.aborted) return undefined;
    reading?.advance();
    const told = { messages: placeAnswers(messages, answers), state, context: contextOf(input) };
    return { ...withoutRequests(input), ...told, runId: settings.randomId() };
  }

  /** Calls that are ours to answer: of what is offered, and of what was offered once, by a name that nobody has now. */
  #ownOf(open: readonly StreamedCall[], end: InnerEnd, input: RunAgentInput): StreamedCall[] {
    const { offer, settings } = this.#options;
    // An agent that waits may wait with one of these for a person: it has surfaces of its own.
    const mayBeTheirs = end.type === "finished" && suspends(end.event);
    const isOld = isOursByName(input, settings.name);
    return open.filter(({ name }) => offer.offered.has(name) || (!mayBeTheirs && isOld(name)));
  }

  async #answer(own: readonly StreamedCall[], isLast: boolean) {
    const { output, offer } = this.#options;
    const answers: ToolAnswer[] = [];
    const waiting: PendingProposal[] = [];
    for await (const outcome of this.#calls.makeRound(own, offer, { isLast })) {
      if (this.#options.signal.aborted) break;
      const pending = await this.#propose(outcome);
      if (pending !== undefined) {
        waiting.push(pending);
        continue;
      }
      const answer = answerTo(outcome.call, outcome.text, this.#options.settings.randomId);
      output.answer(answer);
      output.news();
      answers.push(answer);
    }
    return { answers, waiting };
  }

  async #propose({ call, tool, text, proposal }: CallOutcome): Promise<PendingProposal | undefined> {
    const { settings, view, memory, peerIsNew, onFault } = this.#options;
    if (proposal === undefined || tool === undefined || settings.proposals === undefined) return undefined;
    const onError = (error: unknown) => onFault("watch", error);
    const options = { session: view.session, memory, settings, peerIsNew, onError };
    return await takeProposal({ call, tool, text, proposal }, options);
  }

  /** Ends what the agent left open, answers its calls, and says that the run failed. */
  #fail(own: readonly StreamedCall[], end: InnerEnd, events: InnerEvents): undefined {
    const { output, memory, settings } = this.#options;
    for (const call of own) output.answer(answerTo(call, memory.answerOf(call) ?? texts.runFailed, settings.randomId));
    for (const event of events.closing()) output.pass(event);
    if (end.type === "failed") output.fail(end.event);
    else output.fail({ message: "The agent's stream ended before its run did.", code: "INCOMPLETE_STREAM" });
    return undefined;
  }

  #closeLeftOpen(events: InnerEvents): void {
    const closing = events.closing();
    for (const event of closing) this.#options.output.pass(event);
    if (closing.length > 0) this.#problems.leftOpen();
  }
}
