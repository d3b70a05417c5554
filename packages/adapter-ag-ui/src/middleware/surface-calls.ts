import type { CallResult, JsonObject, Reading, SurfaceSession, ToolDefinition } from "@human-plus/core";
import { failureText, resultText, texts } from "./call-text.ts";
import type { SurfaceSettings } from "./settings.ts";
import type { CallIdentity, ThreadMemory } from "./thread-memory.ts";
import type { ToolOffer } from "./tool-offer.ts";

export interface SurfaceCallsOptions {
  readonly session: SurfaceSession;
  readonly memory: ThreadMemory;
  readonly settings: SurfaceSettings;
  /** What the agent had read when it decided on the calls. */
  readonly reading: Reading | undefined;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** What became of a call. */
export interface CallOutcome {
  readonly call: CallIdentity;
  /** The surface's name of the tool, where there is one. */
  readonly tool: string | undefined;
  /** What the model reads. */
  readonly text: string;
  /** The call proposed, just now, and a person decides. */
  readonly proposal: { readonly receipt: NonNullable<CallResult["proposal"]>; readonly args: JsonObject } | undefined;
}

/** Makes the calls of one run at the surface, one after another, none of them twice. Whatever happens, there is an answer. */
export class SurfaceCalls {
  readonly #options: SurfaceCallsOptions;
  readonly #stop: () => void;
  #personActed = false;

  constructor(options: SurfaceCallsOptions) {
    this.#options = options;
    this.#stop = options.session.on("personActed", () => {
      this.#personActed = true;
    });
  }

  /**
   * The calls of ours that one round of the agent made, in their order. This is where they start: all of them were decided
   * before the first is answered.
   *
   * @param isLast no round follows: nothing is called, and the answers say so
   */
  async *makeRound(
    calls: readonly CallIdentity[],
    { offered }: Pick<ToolOffer, "offered">,
    { isLast }: { readonly isLast: boolean },
  ): AsyncGenerator<CallOutcome> {
    const { settings, memory } = this.#options;
    const { maxIterations, maxCallsPerRound } = settings;
    let made = 0;
    for (const call of calls) {
      const definition = offered.get(call.name);
      let refusal: string | undefined;
      if (definition === undefined) refusal = texts.notOffered(call.name);
      else if (isLast) refusal = texts.budget(maxIterations);
      else if (made >= maxCallsPerRound) refusal = texts.tooMany(maxCallsPerRound);
      if (definition !== undefined && refusal === undefined) {
        made++;
        yield await this.#make(call, definition);
      } else {
        // One that was made before has an answer that is true.
        const text = memory.answerOf(call) ?? refusal ?? texts.lost;
        yield { call, tool: definition?.name, text, proposal: undefined };
      }
    }
  }

  close(): void {
    this.#stop();
  }

  /** @param definition as the model was shown it: one that is another by now is not called */
  async #make(call: CallIdentity, definition: ToolDefinition): Promise<CallOutcome> {
    const tool = definition.name;
    let proposal: CallOutcome["proposal"];
    const text = await this.#options.memory.once(call, async () => {
      const args = parseObject(call.args);
      if (args === undefined) return texts.badArguments(tool);
      const { session, settings, reading, signal, onError } = this.#options;
      const { yieldToPerson, callTimeoutMs: timeoutMs } = settings;
      try {
        const digest = await definition.digest();
        const result = await session.call(tool, args, { signal, timeoutMs, yieldToPerson, digest, reading });
        if (result.proposal !== undefined) proposal = { receipt: result.proposal, args };
        return this.#withNews(resultText(result));
      } catch (error) {
        onError(error);
        return this.#withNews(failureText(tool, error));
      }
    });
    return { call, tool, text, proposal };
  }

  /** Tells the model with the next answer that a person acted: it has no other way to hear of it before its run ends. */
  #withNews(text: string): string {
    if (!this.#personActed) return text;
    this.#personActed = false;
    return `${text}\n${texts.personActed}`;
  }
}

function parseObject(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
