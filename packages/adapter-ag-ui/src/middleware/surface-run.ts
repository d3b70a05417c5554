import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { Observable, Subscriber, Subscription } from "rxjs";
import { attempt } from "../attempt.ts";
import { AgentProblems } from "./agent-problems.ts";
import { answerTo, placeAnswers, type ToolAnswer } from "./history.ts";
import { takeOwnMaterial } from "./own-material.ts";
import type { PendingProposal } from "./proposal-desk.ts";
import { resumeProposals } from "./resume.ts";
import { RunOutput } from "./run-output.ts";
import { type Repair, repairsOf, withInterrupts } from "./run-rules.ts";
import { connectSurface, prepareSurface, type RunSetup } from "./run-setup.ts";
import type { SurfaceFault, SurfaceSettings } from "./settings.ts";
import { SurfaceRounds } from "./surface-rounds.ts";
import type { SurfaceView, SurfaceViews } from "./surface-view.ts";
import type { ThreadMemory } from "./thread-memory.ts";

export interface SurfaceRunOptions {
  readonly settings: SurfaceSettings;
  readonly views: SurfaceViews;
  readonly input: RunAgentInput;
  /** Runs the agent, with its events checked and chunks expanded. */
  readonly runNext: (input: RunAgentInput, problems: AgentProblems) => Observable<BaseEvent>;
}

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
    const { offer, reading } = await prepareSurface(view, memory, input.tools ?? [], this.#setup());
    if (signal.aborted) return;
    if (settings.shows) this.#show(view);
    const messages = this.#answerHistory(input.messages, repairsOf(input, settings.name, memory));
    const tools = [...(input.tools ?? []), ...offer.tools];
    const rounds = new SurfaceRounds({
      settings,
      view,
      memory,
      offer,
      reading,
      output: this.#output,
      signal,
      peerIsNew: (input as { protocolVersion?: unknown }).protocolVersion !== undefined,
      runNext: this.#options.runNext,
      contextOf: (told) => this.#context(told, view),
      onFault: (stage, error) => this.#fault(stage, error),
    });
    this.#onEnd(() => rounds.close());
    await rounds.run({ ...input, messages, tools, context: this.#context(input, view) });
  }

  #fault(stage: SurfaceFault["stage"], error: unknown): void {
    // What a run that was given up leaves undone is no fault.
    if (this.#abort.signal.aborted) return;
    const { threadId, runId } = this.#options.input;
    // Whoever listens for faults adds none to the run.
    attempt(() => this.#options.settings.onError({ threadId, runId, stage, error }));
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
    const messages = placeAnswers(input.messages, this.#answersTo(repairs));
    const problems = new AgentProblems((error) => this.#fault("agent", error));
    this.#inner = this.#options
      .runNext(repairs.length === 0 ? input : { ...input, messages }, problems)
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
    const answers = this.#answersTo(repairs);
    for (const answer of answers) this.#output.answer(answer);
    return placeAnswers(messages, answers);
  }

  #answersTo(repairs: readonly Repair[]): ToolAnswer[] {
    return repairs.map(({ call, content }) => answerTo(call, content, this.#options.settings.randomId));
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
}
