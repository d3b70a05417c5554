import { argument } from "./argument.ts";
import type { AttachmentRow, ObservedRevision } from "./attachment.ts";
import type { AttachmentRows } from "./attachment-rows.ts";
import { surfaceChangedError } from "./conflict-detection.ts";
import type { Deadline } from "./deadline.ts";
import { HumanPlusError } from "./error.ts";
import { methods } from "./gen/constants.ts";
import { safeParseCallToolRequest } from "./gen/parsers.ts";
import type { CallMeta, JsonObject, RpcError } from "./gen/types.ts";
import type { CallOptions } from "./human-plus.ts";
import type { LinkState } from "./link-state.ts";
import type { McpReply } from "./mcp-session.ts";
import type { ResultGuard, TextSource } from "./result-guard.ts";

export interface ToolCallerOptions {
  rows: AttachmentRows;
  guard: ResultGuard;
  now: () => number;
  randomId: () => string;
}

export interface ToolCallOptions extends Pick<CallOptions, "onProgress" | "yieldToPerson"> {
  readonly pin: ObservedRevision | undefined;
}

/** One exchange of `tools/call`: its pin, its progress, and what became of it. */
export class ToolCaller {
  readonly #options: ToolCallerOptions;

  constructor(options: ToolCallerOptions) {
    this.#options = options;
  }

  async call(
    state: LinkState,
    row: AttachmentRow,
    source: TextSource,
    args: JsonObject,
    deadline: Deadline,
    options: ToolCallOptions,
  ): Promise<JsonObject> {
    const { onProgress, yieldToPerson = false, pin } = options;
    const token = this.#options.randomId();
    const meta: CallMeta = { "human-plus/participant": { id: row.participant.id } };
    if (pin !== undefined) meta.revision = pin.marker;
    if (onProgress !== undefined) meta.progressToken = token;
    const params = { name: source.tool, arguments: args, _meta: meta };
    argument("args", safeParseCallToolRequest({ jsonrpc: "2.0", id: token, method: methods.callTool, params }));

    const person = yieldToPerson ? new AbortController() : undefined;
    const signal =
      person === undefined
        ? deadline.signal
        : AbortSignal.any([person.signal, ...(deadline.signal === undefined ? [] : [deadline.signal])]);
    state.running.set(token, { source, onProgress, yieldToPerson: person && (() => person.abort()) });
    let reply: McpReply;
    try {
      reply = await state.session.request(methods.callTool, params as unknown as JsonObject, { ...deadline, signal });
    } catch (error) {
      throw await this.#failure(error, row, pin, source, person?.signal.aborted === true);
    } finally {
      state.running.delete(token);
    }
    if (reply.ok) return reply.result;
    if (reply.error.conflict === "stale") throw await this.#stale(row, pin, source, reply.error);
    const message = this.#options.guard.excerpt(reply.error.message, source, 4096);
    throw new HumanPlusError("surface_error", `the surface answered ${source.tool} with an error of its own`, {
      surface: { code: reply.error.code.slice(0, 64), message },
    });
  }

  async #failure(
    error: unknown,
    row: AttachmentRow,
    pin: ObservedRevision | undefined,
    source: TextSource,
    personActed: boolean,
  ): Promise<unknown> {
    if (!(error instanceof HumanPlusError)) return error;
    // A relay that enforces revisions itself refuses with 409.
    if (error.code === "surface_changed_under_you") return this.#stale(row, pin, source);
    if (error.code !== "aborted" || !personActed) return error;
    const text = "a person acted on the surface, so the call was ended; read the surface before you decide what to do";
    return new HumanPlusError("human_took_control", text, { outcome: error.outcome, cause: error });
  }

  /** A refused pin is not stored any more; what it was read with still tells the feed where to start. */
  async #stale(
    row: AttachmentRow,
    pin: ObservedRevision | undefined,
    source: TextSource,
    refusal?: RpcError,
  ): Promise<HumanPlusError> {
    const refused = row.evidence.refused ?? { tool: source.tool, observedAt: this.#options.now() };
    const enforced =
      pin === undefined ? {} : { conflictDetection: "enforced" as const, evidence: { ...row.evidence, refused } };
    const dropped =
      pin?.marker === row.revision?.marker
        ? { revision: undefined, refusedRevision: row.revision ?? row.refusedRevision }
        : {};
    // Where that cannot be written, the pin is sent again, and refused again: the refusal is what has to be told.
    await this.#options.rows.put({ ...row, ...enforced, ...dropped }).catch(() => undefined);
    return surfaceChangedError(pin, source, this.#options.guard, refusal);
  }
}
