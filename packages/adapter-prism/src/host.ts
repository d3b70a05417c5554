/**
 * The host, as far as this package touches it: `@arnilo/prism` 0.0.25 and 0.3.0, whose source and behaviour agree on
 * everything here but where a member says otherwise. The host is not on the npm registry, so its types are written down
 * by structure: objects of these shapes fit its own types, and it is never imported. Nothing else in this package says
 * what a host looks like.
 *
 * Members that this package *gives* to the host leave out `| undefined`, so that they also fit types that were checked
 * with `exactOptionalPropertyTypes`; members that it *reads* allow it. Functions are methods for the same reason.
 */

/** JSON as the host stores, redacts and serialises it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** The host's `JsonObject`: arguments of a call, a JSON Schema. */
export type HostJsonObject = { [key: string]: JsonValue };

/**
 * A tool (`ToolDefinition`). The type is structural; there is no builder, no title, no output schema and no annotations.
 * Source: core of the host, `ToolDefinition`, equal in both versions but for `kind`.
 */
export interface ToolDefinition {
  /**
   * Key of the registry, target of `PermissionPolicy` and `TrustPolicy` (`tool:<name>:execute`), part of the effect key.
   * The host asks only that it is not empty; providers that are like OpenAI's take `[A-Za-z0-9_-]`, at most 64. It is in
   * the fingerprint of a durable run.
   */
  readonly name: string;
  /** Goes to the model. Not in the fingerprint. */
  readonly description?: string;
  /**
   * JSON Schema, sent to the provider as it is. Secure agents refuse a tool without one. In the fingerprint, serialised
   * with a plain `JSON.stringify`: another order of keys is another fingerprint.
   */
  readonly parameters?: HostJsonObject;
  /** A turn of the model that calls such a tool has its calls dispatched one at a time. In the fingerprint. */
  readonly exclusive?: boolean;
  /** Absent is unmanaged. A function counts in the fingerprint as the word "classifier". */
  readonly effect?:
    | ToolEffectDeclaration
    | ((args: HostJsonObject, context: ToolEffectContext) => ToolEffectDeclaration);
  /** Only 0.3.0 knows it, and only its ACP mapper reads it. */
  readonly kind?: ToolKind;
  /**
   * Asked while a pending decision is built, never at dispatch. A request makes the decision an `elicitation`; nothing, a
   * throw, or a schema over 64 KiB makes it a plain `tool_approval`. A reason over 2 KiB is dropped.
   */
  elicitation?(args: HostJsonObject, context: ToolExecutionContext): ToolElicitationRequest | undefined;
  /**
   * What it returns becomes the tool message; what it throws becomes an error result with the name, message and code of
   * what was thrown. It must not give `undefined`: the run would end with a TypeError.
   */
  execute(args: HostJsonObject, context: ToolExecutionContext): ToolResult | Promise<ToolResult>;
}

/** Source: core of the host, 0.3.0 only; it mirrors ACP. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

/** The second argument of `execute`. Source: core of the host, dispatch (`src/tools.ts`), both versions. */
export interface ToolExecutionContext {
  readonly sessionId: string;
  readonly runId: string;
  /** Every result has to carry it. */
  readonly toolCallId: string;
  /** Aborts with the run. The host never races `execute` against it. Absent when a host dispatches a call by itself. */
  readonly signal?: AbortSignal | undefined;
  /** Metadata of agent, session and run; policies see the same. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The verified principal, where the host has identities. */
  readonly identity?: unknown;
  /** `prism:tool-effect:v1:<sha256>`, for a managed effect. Derived by the host; a caller cannot set it. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Emits `tool_execution_progress`. Asynchronous; nothing bounds the payload, and a call after the tool returned still
   * emits. The AG-UI side drops what is over 64 KiB, depth 16 or 128 keys.
   */
  progress?(progress?: unknown, metadata?: Record<string, unknown>): void | Promise<void>;
}

/** What an effect classifier or an elicitation is told of the call. Source: host core, effect preparation. */
export interface ToolEffectContext {
  readonly sessionId: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What `execute` gives (`ToolResult`). Providers send the model `JSON.stringify(result ?? error ?? null)` of `value` and
 * `error`: a value hides an error, and content alone reaches the model as `null`. Source: host core and its providers.
 */
export interface ToolResult {
  /** The id of the call. Another one leaves the call open for ever and makes a managed effect unknown. */
  readonly toolCallId: string;
  /** The registered name of the tool. */
  readonly name: string;
  /** Blocks beside the result. The AI-SDK provider throws as soon as there is one. */
  readonly content?: ContentBlock[];
  /** What the model reads. */
  readonly value?: unknown;
  /** A result that is an error: the host shows it as completed, and makes a managed effect unknown. */
  readonly error?: ErrorInfo;
  /** Stored with the tool message. `approvalPending: true` at its top makes the host drop the result. */
  readonly metadata?: Record<string, unknown>;
}

/** Source: host core, `ErrorInfo`. Of a thrown error the host keeps `name`, `message`, `code` and `retryAfterMs`. */
export interface ErrorInfo {
  readonly name?: string;
  readonly message: string;
  readonly code?: string | number;
  /** Finite and not negative. */
  readonly retryAfterMs?: number;
  /** Becomes text. */
  readonly cause?: unknown;
}

/** The one kind of the host's content blocks that this package makes. Source: host core, `ContentBlock`. */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}
export type ContentBlock = TextBlock;

/**
 * A message of a transcript (`Message`), as `run`, `stream` and `steer` take it. Source: host core, 4.1 and 4.2 of the
 * notes on sessions: `{id?, role, content, metadata?}`.
 */
export interface HostMessage {
  readonly id?: string;
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: ContentBlock[];
  readonly metadata?: Record<string, unknown>;
}

/**
 * What a call does to the world. `optional`, `required` and `tool_managed` need a verified identity: without one the host
 * blocks the call with `ERR_PRISM_TOOL_EFFECT_CONFLICT`. `none` is paired with `none` only. Source: host core, effects.
 */
export interface ToolEffectDeclaration {
  readonly kind: "none" | "local_mutation" | "external_mutation";
  readonly idempotency: "none" | "optional" | "required" | "tool_managed" | "unsupported";
}

/** Turns a pending approval into a question with a form. Source: host core, decisions. */
export interface ToolElicitationRequest {
  /** JSON Schema of the answer, at most 64 KiB. */
  readonly schema: HostJsonObject;
  /** What a person reads, at most 2 KiB of UTF-8. */
  readonly reason?: string;
  /** Throws to refuse an answer. */
  validate?(payload: HostJsonObject): void;
}

/**
 * Where an agent finds its tools. Read at the start of each run; names are looked up live at dispatch. There is no
 * unregister. `resolve` throws `Unknown tool: <name>`; `list` keeps the order. Source: host core, `ToolRegistry`.
 */
export interface ToolRegistry {
  register(tool: ToolDefinition): void;
  get(name: string): ToolDefinition | undefined;
  resolve(name: string): ToolDefinition;
  list(): ToolDefinition[];
}

/** An event of a run: every one carries its type. Unknown types are to be ignored. Source: host core, `AgentEvent`. */
export interface AgentEvent {
  readonly type: string;
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
}

/** How many events a subscription keeps, and what becomes of the rest. Source: host core, `AgentSession.subscribe`. */
export interface SubscribeOptions {
  /** @default 1024 */
  readonly maxQueuedEvents?: number;
  /** `close` replaces the whole queue, terminal event included, with one `event_subscriber_overflow`. */
  readonly overflow?: "close" | "drop_oldest" | "drop_newest";
}

/**
 * The parts of the host's `AgentSession` that this package uses. `steer` is the one sanctioned way to put text into a
 * running run: at most 8 messages and 64 KiB wait (hard 32 and 256 KiB), they are guardrailed and arrive before the
 * provider's next turn, and a refused one shows as the event `steer_rejected`. Source: host core, sessions.
 */
export interface AgentSession {
  readonly id: string;
  steer(input: string | HostMessage | HostMessage[], options?: { softInterrupt?: boolean }): unknown;
  subscribe(options?: SubscribeOptions): AsyncIterable<AgentEvent>;
}

/** Where an effect stands. `unknown` never expires and is never replayed. Source: host core, `ToolEffectRecord`. */
export type ToolEffectStatus =
  | "pending"
  | "dispatched"
  | "completed"
  | "failed_retryable"
  | "failed_terminal"
  | "unknown";

/**
 * What the host's effect store keeps of a call, as far as reconciling reads it. Ownership fields (`tenantId`,
 * `accountId`, `userId`), claims and versions are the host's. Source: host core, `ToolEffectRecord`, both versions.
 */
export interface ToolEffectRecord {
  /** `prism:tool-effect:v1:<sha256>`. */
  readonly key: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** 64 hex digits: SHA-256 over the host's canonical JSON of the arguments. */
  readonly argumentsHash: string;
  readonly status: ToolEffectStatus;
  readonly attempt: number;
  readonly version: number;
  readonly result?: unknown;
  readonly failure?: { readonly code: string; readonly reference?: string | undefined } | undefined;
  readonly createdAt: string | number;
  readonly updatedAt: string | number;
}
