import { HumanPlusError, type Invitation, type RelayTransport } from "@human-plus/core";
import {
  type CallMeta,
  type ChangeFeed,
  type InitializeResult,
  type Issue,
  type JsonObject,
  jsonRpcVersion,
  limits,
  mcpProtocolVersion,
  methods,
  type Notification,
  type RelayLink,
  type RpcError,
  safeParseCallToolResult,
  safeParseChangeFeed,
  safeParseChangeFeedToolName,
  safeParseInitializeResult,
  safeParseListToolsResult,
  safeParseRevisionReading,
  safeParseRpcError,
  type Tool,
} from "@human-plus/core/protocol";
import { UnreachableError } from "../check.ts";
import type { Quoter } from "../quote.ts";

/** A tool and the arguments to call it with. */
export interface ToolCall {
  name: string;
  args: JsonObject;
}

/** What a request gave. */
export type Reply =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError };

/** All that `tools/list` gave, page by page. */
export interface Listing {
  readonly tools: readonly Tool[];
  readonly pages: number;
  readonly unreadable: number;
  readonly notices: readonly Issue[];
  /** Why listing ended before the surface said so. */
  readonly broken: string | undefined;
}

/** One answer of a change feed, with the marker it carries. */
export interface FeedReading {
  readonly feed: ChangeFeed;
  readonly notices: readonly Issue[];
  readonly marker: string | undefined;
}

/** An agent that takes part in the session for the checks. */
export interface Agent {
  readonly link: RelayLink;
  readonly participant: string;
}

export interface SurfaceProbeOptions {
  transport: RelayTransport;
  invitation: Invitation;
  timeoutMs: number;
  quoter: Quoter;
  /** A tool that only reads; without it nothing but the change feed is called. */
  read: ToolCall | undefined;
}

const CLIENT_INFO = { name: "human-plus-conformance", version: "1" };

/** Speaks to one surface as two agents, and remembers what it was told. */
export class SurfaceProbe {
  readonly invitation: Invitation;
  readonly quoter: Quoter;
  readonly timeoutMs: number;
  readonly read: ToolCall | undefined;
  readonly first: Agent;
  readonly second: Agent;
  /** Every notification that came, in order. */
  readonly notifications: Notification[] = [];
  /** Progress tokens that were given to the surface. */
  readonly progressTokens: Set<unknown> = new Set();
  readonly #transport: RelayTransport;
  readonly #remembered: Map<string, Promise<unknown>> = new Map();
  readonly #releases: (() => void)[] = [];
  readonly #waiting: Set<() => void> = new Set();

  constructor({ transport, invitation, timeoutMs, quoter, read }: SurfaceProbeOptions) {
    this.#transport = transport;
    this.invitation = invitation;
    this.timeoutMs = timeoutMs;
    this.quoter = quoter;
    this.read = read;
    this.first = this.#agent();
    this.second = this.#agent();
    transport.onNotification((link, notification) => {
      if (link.id !== this.first.link.id) return; // every agent gets a copy
      if (this.notifications.length < 10_000) this.notifications.push(notification);
      for (const wake of [...this.#waiting]) wake();
    });
  }

  /** Runs something once and remembers what came of it, for all checks that need it. */
  once<T>(name: string, run: () => Promise<T>): Promise<T> {
    const known = this.#remembered.get(name);
    if (known !== undefined) return known as Promise<T>;
    const running = run();
    this.#remembered.set(name, running);
    return running;
  }

  async request(method: string, params: JsonObject, { link }: Agent = this.first): Promise<Reply> {
    const frame = { jsonrpc: jsonRpcVersion, id: crypto.randomUUID(), method, params } as const;
    const reply = await this.#transport.exchange(link, frame, { timeoutMs: this.timeoutMs });
    if (reply.result !== undefined) return { ok: true, result: reply.result };
    const error = safeParseRpcError(reply.error);
    return { ok: false, error: error.ok ? error.value : { code: "unreadable", message: "", conflict: "none" } };
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    await this.#transport.notify(
      this.first.link,
      { jsonrpc: jsonRpcVersion, method, params },
      { timeoutMs: this.timeoutMs },
    );
  }

  /** The answer to `initialize`, of an agent that speaks this revision. */
  initialize(agent: Agent = this.first, protocolVersion: string = mcpProtocolVersion): Promise<Reply> {
    const params = { protocolVersion, capabilities: {}, clientInfo: CLIENT_INFO };
    return this.request(methods.initialize, params, agent);
  }

  /** Opens the MCP session of both agents, once. */
  handshake(): Promise<{ readonly reply: Reply; readonly result: InitializeResult | undefined }> {
    return this.once("handshake", async () => {
      this.#releases.push(this.#transport.hold(this.first.link));
      const reply = await this.#greet();
      const parsed = reply.ok ? safeParseInitializeResult(reply.result) : undefined;
      return { reply, result: parsed?.ok ? parsed.value : undefined };
    });
  }

  /** The tools of the surface. */
  listing(): Promise<Listing> {
    return this.once("listing", async () => {
      await this.handshake();
      const tools: Tool[] = [];
      const notices: Issue[] = [];
      const seen = new Set<string>();
      let unreadable = 0;
      let cursor: string | undefined;
      for (let pages = 1; pages <= limits.toolPages; pages++) {
        const end = (broken?: string): Listing => ({ tools, pages, unreadable, notices, broken });
        let reply: Reply;
        try {
          reply = await this.request(methods.listTools, cursor === undefined ? {} : { cursor });
        } catch (error) {
          if (error instanceof HumanPlusError && error.code === "relay_timeout") return end(error.message);
          throw error;
        }
        if (!reply.ok) return end(`an error ${this.quoter.quote(reply.error.code)} for page ${pages}`);
        const parsed = safeParseListToolsResult(reply.result);
        if (!parsed.ok) return end(`a page that cannot be read: ${issuesToText(parsed.issues)}`);
        tools.push(...parsed.value.tools);
        notices.push(...parsed.notices);
        unreadable += parsed.value.unreadable;
        if (tools.length > limits.tools) return end(`more than ${limits.tools} tools`);
        cursor = parsed.value.nextCursor;
        if (cursor === undefined) return end();
        if (seen.has(cursor)) return end("the same nextCursor twice");
        seen.add(cursor);
      }
      return { tools, pages: limits.toolPages, unreadable, notices, broken: `more than ${limits.toolPages} pages` };
    });
  }

  /** The name of the change feed, where there is one. */
  async feedName(): Promise<string | undefined> {
    const { tools } = await this.listing();
    return tools.find(({ name }) => safeParseChangeFeedToolName(name).ok)?.name;
  }

  async call(
    { name, args }: ToolCall,
    { agent = this.first, ...meta }: CallMeta & { agent?: Agent } = {},
  ): Promise<Reply> {
    await this.handshake();
    const _meta: CallMeta = { ...meta, "human-plus/participant": { id: agent.participant } };
    if (meta.progressToken !== undefined) this.progressTokens.add(meta.progressToken);
    return this.request(methods.callTool, { name, arguments: args, _meta } as unknown as JsonObject, agent);
  }

  /** Asks the change feed; `undefined` where there is none, or where it answers with an error. */
  async askFeed(since: string | undefined, agent: Agent = this.first): Promise<FeedReading | undefined> {
    const name = await this.feedName();
    if (name === undefined) return undefined;
    const reply = await this.call({ name, args: since === undefined ? {} : { since } }, { agent });
    return reply.ok && !isFailed(reply.result) ? readFeed(reply.result) : undefined;
  }

  /** Asks the change feed until it says that there is no more, a few times. */
  async askWholeFeed(since: string | undefined, agent: Agent = this.first): Promise<FeedReading | undefined> {
    let reading = await this.askFeed(since, agent);
    for (let more = 0; more < 16 && reading !== undefined; more++) {
      const { feed, marker, notices } = reading;
      if (feed.complete || marker === undefined || marker === since) break;
      const next: FeedReading | undefined = await this.askFeed(marker, agent);
      if (next === undefined) break;
      const changes = [...feed.changes, ...next.feed.changes];
      const unreadable = feed.unreadable + next.feed.unreadable;
      reading = { ...next, notices: [...notices, ...next.notices], feed: { ...next.feed, changes, unreadable } };
      if (next.marker === marker) break;
    }
    return reading;
  }

  /** A marker for the state now, from a tool that only reads. */
  async freshMarker(agent: Agent = this.first): Promise<string | undefined> {
    if (this.read !== undefined) {
      const reply = await this.call(this.read, { agent });
      const marker = reply.ok ? markerOf(reply.result) : undefined;
      if (marker !== undefined) return marker;
    }
    return (await this.askWholeFeed(undefined, agent))?.marker;
  }

  /** Waits until a notification comes or the time is over. */
  nextNotification(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }

  async close(): Promise<void> {
    for (const release of this.#releases) release();
    const leave = ({ link }: Agent) =>
      this.#transport.detach(link, { timeoutMs: this.timeoutMs }).catch(() => undefined);
    if (this.#remembered.size > 0) await Promise.all([leave(this.first), leave(this.second)]);
    await this.#transport.close();
  }

  async #greet(): Promise<Reply> {
    try {
      const reply = await this.initialize();
      await this.notify(methods.initialized, {});
      return reply;
    } catch (error) {
      if (error instanceof HumanPlusError) throw new UnreachableError(error.message, { cause: error });
      throw error;
    }
  }

  #agent(): Agent {
    const id = crypto.randomUUID();
    const participant = `conformance-${id}`;
    return { participant, link: { id, invitation: this.invitation, client: participant } };
  }
}

export function markerOf(result: JsonObject): string | undefined {
  const parsed = safeParseRevisionReading(result);
  return parsed.ok ? parsed.value.revision : undefined;
}

/** The tool says of itself that it failed. */
export function isFailed(result: JsonObject): boolean {
  const parsed = safeParseCallToolResult(result);
  return parsed.ok && parsed.value.isError;
}

export function issuesToText(issues: readonly Issue[]): string {
  return issues
    .slice(0, 4)
    .map(({ pointer, expected, received }) => `${pointer || "it"} should be ${expected}, and is ${received}`)
    .join("; ");
}

function readFeed(result: JsonObject): FeedReading {
  const parsed = safeParseChangeFeed(result);
  const marker = markerOf(result);
  if (parsed.ok) return { feed: parsed.value, notices: parsed.notices, marker };
  return { feed: { changes: [], complete: false, unreadable: 1 }, notices: parsed.issues, marker };
}
