import type { Deadline } from "./deadline.ts";
import { HumanPlusError } from "./error.ts";
import { jsonRpcVersion, mcpProtocolVersion, methods } from "./gen/constants.ts";
import { safeParseInitializeResult, safeParseRpcError } from "./gen/parsers.ts";
import type { ErrorResponse, Implementation, JsonObject, RpcError } from "./gen/types.ts";
import { issueText } from "./parse/unwrap.ts";
import type { RelayLink, RelayTransport } from "./transport.ts";

/** What a request gave: a result still to be read, or the surface's error. */
export type McpReply =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError };

export interface McpSessionOptions {
  transport: RelayTransport;
  link: RelayLink;
  clientInfo: Implementation;
  /** Mints request ids that nobody can guess. */
  requestId: () => string;
}

/** MCP 2025-06-18 over one link: the handshake once, then requests. PROTOCOL.md section 4. */
export class McpSession {
  readonly link: RelayLink;
  readonly #transport: RelayTransport;
  readonly #clientInfo: Implementation;
  readonly #requestId: () => string;
  #handshake: Promise<void> | undefined;
  #isOver = false;

  constructor({ transport, link, clientInfo, requestId }: McpSessionOptions) {
    this.link = link;
    this.#transport = transport;
    this.#clientInfo = clientInfo;
    this.#requestId = requestId;
  }

  /** Opens the session if it is not open yet. @throws HumanPlusError `protocol_version_unsupported` or what the transport throws */
  async open(deadline: Deadline): Promise<void> {
    this.#handshake ??= this.#open(deadline);
    try {
      await this.#handshake;
    } catch (error) {
      this.#handshake = undefined;
      throw error;
    }
  }

  /** Lets nothing leave any more: a request that is under way goes on. */
  end(): void {
    this.#isOver = true;
  }

  async request(method: string, params: JsonObject, deadline: Deadline): Promise<McpReply> {
    this.#assertNotOver();
    const id = this.#requestId();
    const reply = await this.#transport.exchange(
      this.link,
      { jsonrpc: jsonRpcVersion, id, method, params },
      this.#options(deadline),
    );
    return "result" in reply && reply.result !== undefined
      ? { ok: true, result: reply.result }
      : { ok: false, error: readError(reply as ErrorResponse) };
  }

  async #open(deadline: Deadline): Promise<void> {
    const params = { protocolVersion: mcpProtocolVersion, capabilities: {}, clientInfo: this.#clientInfo };
    const reply = await this.request(methods.initialize, params as unknown as JsonObject, deadline);
    if (!reply.ok) {
      throw new HumanPlusError("surface_error", "the surface refused to open an MCP session", {
        outcome: "not_applied",
        surface: { code: reply.error.code },
      });
    }
    const parsed = safeParseInitializeResult(reply.result);
    if (!parsed.ok) {
      const text = parsed.issues.map(issueText).join("; ");
      throw new HumanPlusError("malformed_message", `the surface's answer to initialize: ${text}`, {
        issues: parsed.issues,
      });
    }
    if (parsed.value.protocolVersion !== mcpProtocolVersion) {
      throw new HumanPlusError("protocol_version_unsupported", `the surface does not speak MCP ${mcpProtocolVersion}`);
    }
    this.#assertNotOver();
    await this.#transport.notify(
      this.link,
      { jsonrpc: jsonRpcVersion, method: methods.initialized },
      this.#options(deadline),
    );
  }

  #assertNotOver(): void {
    if (this.#isOver)
      throw new HumanPlusError("attachment_conflict", "the attachment ended before this was sent, or began anew");
  }

  #options({ remainingMs, signal }: Deadline): { timeoutMs: number; signal: AbortSignal | undefined } {
    return { timeoutMs: remainingMs(), signal };
  }
}

function readError(reply: ErrorResponse): RpcError {
  const parsed = safeParseRpcError(reply.error);
  return parsed.ok ? parsed.value : { code: "unknown", message: "", conflict: "none" };
}
