import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { ToolDefinition } from "@human-plus/core";
import type { Observable, Subscriber, Subscription } from "rxjs";
import { texts } from "./call-text.ts";
import { applyEvents, placeAnswers, type ToolAnswer } from "./history.ts";
import { InnerEvents } from "./inner-events.ts";
import { takeOwnMaterial } from "./own-material.ts";
import type { PendingProposal } from "./proposal-desk.ts";
import { takeProposal } from "./proposal-intake.ts";
import { resumeProposals } from "./resume.ts";
import { RunOutput } from "./run-output.ts";
import {
  type Repair,
  repairsOf,
  resultId,
  suspends,
  withInterrupts,
  withoutPending,
  withoutRequests,
} from "./run-rules.ts";
import { connectSurface, prepareSurface, type RunSetup } from "./run-setup.ts";
import type { SurfaceFault, SurfaceSettings } from "./settings.ts";
import { type CallOutcome, SurfaceCalls } from "./surface-calls.ts";
import type { SurfaceView, SurfaceViews } from "./surface-view.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import type { ToolOffer } from "./tool-offer.ts";

export interface SurfaceRunOptions {
  readonly settings: SurfaceSettings;
  readonly views: SurfaceViews;
  readonly input: RunAgentInput;
  /** Runs the agent, with chunks expanded. */
  readonly runNext: (input: RunAgentInput) => Observable<BaseEvent>;
}

/** How one inner run ended. */
type InnerEnd = { readonly type: "finished" | "failed"; readonly event: BaseEvent } | { readonly type: "truncated" };

/** One run of a host, with the surface in it. Everything that lasts longer than the run is in the thread's memory. */
export class SurfaceRun {
  readonly #options: SurfaceRunOptions;
  readonly #subscriber: Subscriber<BaseEvent>;
  readonly #output: RunOutput;
  readonly #abort = new AbortController();
  /** What ends with the run, the last first. */
  readonly #cleanup: Array<() => void> = [];
  #inner: Subscription | undefined;

  constructor(options: SurfaceRunOptions, subscriber: Subscriber<BaseEvent>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#output = new RunOutput(subscriber, options.input);
  }

  start(): void {
    this.#run().catch((error: unknown) => this.#subscriber.error(error));
  }

  /** The host is no longer interested, or the run is over. */
  stop(): void {
    this.#abort.abort();
    this.#inner?.unsubscribe();
    for (const end of this.#cleanup.splice(0).reverse()) end();
  }

  async #run(): Promise<void> {
    const { settings, views } = this.#options;
    const { signal } = this.#abort;
    const own = takeOwnMaterial(this.#options.input, settings.name);
    const session = await connectSurface(own, this.#setup());
    if (signal.aborted) return;
    if (session === undefined) return this.#withoutSurface(own.input);
    const view = views.get(session);
    const memory = view.thread(own.input.threadId);
    const onError = (error: unknown) => this.#fault("decide", error);
    const { input, open } = await resumeProposals(own, memory, settings, { signal, onError });
    if (signal.aborted) return;
    if (open.length > 0) return this.#waitAgain(input, open, memory);
    const offer = await prepareSurface(view, input.tools ?? [], this.#setup());
    if (signal.aborted) return;
    if (settings.shows) this.#show(view);
    const messages = this.#answerHistory(input.messages, repairsOf(input, settings.name, memory));
    const tools = [...(input.tools ?? []), ...offer.tools];
    await this.#rounds({ ...input, messages, tools, context: this.#context(input, view) }, offer, view, memory);
  }

  #fault(stage: SurfaceFault["stage"], error: unknown): void {
    // What a run that was given up leaves undone is no fault.
    if (this.#abort.signal.aborted) return;
    const { threadId, runId } = this.#options.input;
    try {
      this.#options.settings.onError({ threadId, runId, stage, error });
    } catch {
      // Whoever listens for faults adds none to the run.
    }
  }

  #setup(): RunSetup {
    return {
      settings: this.#options.settings,
      signal: this.#abort.signal,
      onFault: (stage, error) => this.#fault(stage, error),
      onEnd: (end) => this.#onEnd(end),
    };
  }

  #onEnd(end: () => void): void {
    if (this.#abort.signal.aborted) end();
    else this.#cleanup.push(end);
  }

  /** The agent's own run, but that no call of ours in its history is left without an answer. */
  #withoutSurface(input: RunAgentInput): void {
    const repairs = repairsOf(input, this.#options.settings.name, undefined);
    const messages = placeAnswers(
      input.messages,
      repairs.map((repair) => this.#answerTo(repair)),
    );
    this.#inner = this.#options
      .runNext(repairs.length === 0 ? input : { ...input, messages })
      .subscribe(this.#subscriber);
  }

  /** Says what is known by now, and ends at the same interrupts. The agent is not run: it must not go on without an answer. */
  #waitAgain(input: RunAgentInput, open: readonly PendingProposal[], memory: ThreadMemory): void {
    const waiting = new Set(open.map(({ call }) => call.id));
    const repairs = repairsOf(input, this.#options.settings.name, memory);
    this.#answerHistory(
      input.messages,
      repairs.filter(({ call }) => !waiting.has(call.id)),
    );
    const event = { type: "RUN_FINISHED" } as BaseEvent;
    this.#output.finish(
      withInterrupts(
        event,
        open.map(({ interrupt }) => interrupt),
      ),
    );
  }

  #answerHistory(messages: RunAgentInput["messages"], repairs: readonly Repair[]): RunAgentInput["messages"] {
    const answers = repairs.map((repair) => this.#answerTo(repair));
    for (const answer of answers) this.#output.answer(answer);
    return placeAnswers(messages, answers);
  }

  #answerTo({ call, content }: { readonly call: { readonly id: string }; readonly content: string }): ToolAnswer {
    return { toolCallId: call.id, messageId: resultId(this.#options.settings.randomId), content };
  }

  #show({ projector }: SurfaceView): void {
    const { threadId, state } = this.#options.input;
    const stream = projector.open({ threadId, state, onReady: () => this.#output.news() });
    this.#onEnd(() => stream.close());
    this.#output.attach(stream);
  }

  #context(input: RunAgentInput, { projector }: SurfaceView): RunAgentInput["context"] {
    const { context = [] } = input;
    return this.#options.settings.context ? projector.withContext(input.threadId, context) : context;
  }

  /** Runs the agent until it makes no more calls of ours. */
  async #rounds(first: RunAgentInput, offer: ToolOffer, view: SurfaceView, memory: ThreadMemory): Promise<void> {
    const { settings } = this.#options;
    const { signal } = this.#abort;
    const onError = (error: unknown) => this.#fault("call", error);
    const calls = new SurfaceCalls({ session: view.session, memory, settings, signal, onError });
    this.#onEnd(() => calls.close());
    let input = first;
    for (let round = 1; ; round++) {
      const events = new InnerEvents();
      const end = await this.#inside(input, events);
      if (signal.aborted) return;
      const open = events.unanswered();
      const own = open.filter(({ name }) => offer.offered.has(name));
      if (end.type !== "finished") {
        for (const call of own) this.#output.answer(this.#answerTo({ call, content: texts.runFailed }));
        return this.#fail(end, events);
      }
      const spent = round >= settings.maxIterations;
      const answers: ToolAnswer[] = [];
      const waiting: PendingProposal[] = [];
      for (const call of own) {
        const definition = offer.offered.get(call.name) as ToolDefinition;
        const { text, proposal }: CallOutcome = spent
          ? { text: texts.budget(settings.maxIterations), proposal: undefined }
          : await calls.make(call, definition);
        if (proposal !== undefined && settings.proposals !== undefined) {
          waiting.push(await this.#propose({ call, tool: definition.name, text, proposal }, view, memory));
          if (signal.aborted) return;
          continue;
        }
        if (signal.aborted) return;
        const answer = this.#answerTo({ call, content: text });
        this.#output.answer(answer);
        this.#output.news();
        answers.push(answer);
      }
      if (waiting.length > 0) {
        const interrupts = waiting.map(({ interrupt }) => interrupt);
        return this.#output.finish(withInterrupts(end.event, interrupts));
      }
      const handsOver = own.length === 0 || own.length < open.length || spent || suspends(end.event);
      if (handsOver) return this.#output.finish(withoutPending(end.event, own));
      const { messages, state } = await applyEvents(input, events.history);
      if (signal.aborted) return;
      const context = this.#context(input, view);
      const runId = settings.randomId();
      input = { ...withoutRequests(input), runId, messages: placeAnswers(messages, answers), state, context };
    }
  }

  #propose(
    proposed: Parameters<typeof takeProposal>[0],
    { session }: SurfaceView,
    memory: ThreadMemory,
  ): Promise<PendingProposal> {
    const { settings, input } = this.#options;
    const peerIsNew = (input as { protocolVersion?: unknown }).protocolVersion !== undefined;
    const onError = (error: unknown) => this.#fault("watch", error);
    return takeProposal(proposed, { session, memory, settings, peerIsNew, onError });
  }

  /** Closes what the agent left open, and says that the run failed. */
  #fail(end: InnerEnd, events: InnerEvents): void {
    for (const event of events.closing()) this.#output.pass(event);
    if (end.type === "truncated")
      this.#output.fail({ message: "The agent's stream ended before its run did.", code: "INCOMPLETE_STREAM" });
    else this.#output.fail(end.event);
  }

  /** One run of the agent: its events go out as they come, but for its start and its end. */
  #inside(input: RunAgentInput, events: InnerEvents): Promise<InnerEnd> {
    return new Promise((resolve, reject) => {
      let end: InnerEnd = { type: "truncated" };
      const inner = this.#options.runNext(input).subscribe({
        next: (event) => {
          if (end.type === "failed") return;
          switch (String(event.type)) {
            case "RUN_STARTED":
              end = { type: "truncated" };
              this.#output.begin(event);
              return;
            case "RUN_FINISHED":
              end = { type: "finished", event };
              return;
            case "RUN_ERROR":
              end = { type: "failed", event };
              resolve(end);
              return;
            default:
              events.add(event);
              this.#output.pass(event);
          }
        },
        error: reject,
        complete: () => resolve(end),
      });
      this.#inner = inner;
      // What says something at once may be given up before it is known here.
      if (this.#abort.signal.aborted) inner.unsubscribe();
    });
  }
}
