import type { CallResult, JsonObject, SurfaceSession, ToolDefinition } from "@human-plus/core";
import { failureText, resultText, texts } from "./call-text.ts";
import type { SurfaceSettings } from "./settings.ts";
import type { CallIdentity, ThreadMemory } from "./thread-memory.ts";

export interface SurfaceCallsOptions {
  readonly session: SurfaceSession;
  readonly memory: ThreadMemory;
  readonly settings: SurfaceSettings;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** What became of a call. */
export interface CallOutcome {
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

  /** @param definition as the model was shown it: one that is another by now is not called */
  async make(call: CallIdentity, definition: ToolDefinition): Promise<CallOutcome> {
    const tool = definition.name;
    let proposal: CallOutcome["proposal"];
    const text = await this.#options.memory.once(call, async () => {
      const args = parseObject(call.args);
      if (args === undefined) return texts.badArguments(tool);
      const { session, settings, signal, onError } = this.#options;
      const { yieldToPerson, callTimeoutMs: timeoutMs } = settings;
      try {
        const digest = await definition.digest();
        const result = await session.call(tool, args, { signal, timeoutMs, yieldToPerson, digest });
        if (result.proposal !== undefined) proposal = { receipt: result.proposal, args };
        return this.#withNews(resultText(result));
      } catch (error) {
        onError(error);
        return this.#withNews(failureText(tool, error));
      }
    });
    return { text, proposal };
  }

  close(): void {
    this.#stop();
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
