import { createParser } from "eventsource-parser";
import { type SmallRelay, startSmallRelay } from "./small-relay.ts";

/** What a small surface does wrong. */
export type SurfaceFault =
  | "mints but does not enforce"
  | "enforces at arrival only"
  | "attributes everything to agent"
  | "hard-deletes without tombstone"
  | "answers changes as an object"
  | "repeats a marker after a change"
  | "keeps the last hand of a handle"
  | "keeps one marker"
  | "own write is stale"
  | "refuses with a code of its own"
  | "refuses without data"
  | "writes what it refuses"
  | "refuses reads"
  | "calm for unknown markers"
  | "ignores since"
  | "never sure to be complete"
  | "words of its own"
  | "a marker for each read"
  | "agrees to any revision"
  | "answers twice"
  | "answers any method"
  | "offers to accept"
  | "a name with blanks"
  | "a long description"
  | "the same page again"
  | "progress that shrinks"
  | "malformed notifications"
  | "speaks another revision"
  | "greets once"
  | "ping with words"
  | "takes any tool"
  | "two tools of one name"
  | "feed needs a marker"
  | "a result without end"
  | "deaf after notifications"
  | "lists no tools";

type Hand = { readonly type: "human" } | { readonly type: "agent"; readonly id: string | undefined };

interface Row {
  readonly seq: number;
  readonly handle: string;
  readonly kind: string;
  readonly hand: Hand;
}

interface Call {
  readonly name?: string;
  readonly arguments?: Record<string, unknown>;
  readonly _meta?: { revision?: string; progressToken?: unknown; "human-plus/participant"?: { id: string } };
}

type Reply = { readonly result: object } | { readonly error: object };

export interface SmallSurface extends AsyncDisposable {
  readonly invitation: {
    relayBaseUrl: string;
    sessionId: string;
    token: string;
    surfaceId: string;
    application: string;
  };
  /** Texts of board_move calls that were written. */
  readonly written: readonly unknown[];
  /** A person creates a card, or deletes it again. */
  act(act: "change" | "delete"): Promise<void>;
}

/** How long a slow write waits for another one to overtake it, in milliseconds. */
const SLOW_MS = 300;

const TOOLS = [
  { name: "board_read", description: "All cards.", inputSchema: { type: "object" } },
  { name: "board_move", description: "Moves a card.", inputSchema: { type: "object" } },
  { name: "changes_since", description: "What changed.", inputSchema: { type: "object" } },
];

/** A board of cards behind a small relay, sound but for what it is told to do wrong. Its writes are slow. */
export async function startSmallSurface(fault?: SurfaceFault): Promise<SmallSurface> {
  const relay: SmallRelay = await startSmallRelay(fault === "answers twice" ? "passes on second replies" : undefined);
  const sessionId = "small-surface";
  const token = "small-surface-token-0123456789";
  const cards = new Map<string, unknown>([["budget", { x: 0 }]]);
  const written: unknown[] = [];
  const overtaking = new Set<() => void>();
  let log: Row[] = [{ seq: 1, handle: "budget", kind: "created", hand: { type: "human" } }];
  let head = 1;
  let greeted = false;
  let isDeaf = false;

  const revision = fault === "speaks another revision" ? "2024-11-05" : "2025-06-18";

  function mint(seq: number): string {
    if (fault === "keeps one marker") return "m1";
    if (fault === "repeats a marker after a change") return `m${seq % 2}`;
    return fault === "a marker for each read" ? `m${seq}.${crypto.randomUUID()}` : `m${seq}`;
  }

  /** What the holder of a marker has read; `undefined` for a marker that was never given. */
  function read(marker: string): number | undefined {
    if (fault === "repeats a marker after a change")
      return /^m[01]$/.test(marker) ? latest(Number(marker[1])) : undefined;
    if (fault === "keeps one marker") return marker === "m1" ? head : undefined;
    const seq = /^m(\d+)/.exec(marker)?.[1];
    return seq === undefined || Number(seq) > head ? undefined : Number(seq);
  }

  function latest(parity: number): number {
    return head % 2 === parity ? head : head - 1;
  }

  function change(handle: string, kind: string, hand: Hand): void {
    head++;
    if (kind === "deleted" && fault === "hard-deletes without tombstone")
      log = log.filter((row) => row.handle !== handle);
    else {
      if (fault === "keeps the last hand of a handle") log = log.filter((row) => row.handle !== handle);
      log.push({ seq: head, handle, kind, hand });
    }
  }

  function toRow({ handle, kind, hand }: Row, asker: string | undefined): object {
    const actor = hand.type === "human" ? "human" : hand.id === asker ? "agent" : "other";
    return {
      handle,
      kind: fault === "words of its own" ? `${kind}-ish` : kind,
      actor: fault === "attributes everything to agent" ? "agent" : actor,
    };
  }

  function feed(since: unknown, asker: string | undefined): Reply {
    if (fault === "feed needs a marker" && since === undefined) return { error: { code: -32_602, message: "since?" } };
    const known = since === undefined ? 0 : typeof since === "string" ? read(since) : undefined;
    const from = fault === "ignores since" ? 0 : (known ?? 0);
    const isLost = known === undefined;
    const rows = log.filter(({ seq }) => seq > from).map((row) => toRow(row, asker));
    const shown = isLost && fault === "calm for unknown markers" ? [] : rows;
    const complete = fault === "never sure to be complete" ? "yes" : fault === "calm for unknown markers" || !isLost;
    const changes = fault === "answers changes as an object" ? Object.fromEntries(shown.entries()) : shown;
    return { result: { content: [], changes, complete, _meta: { revision: mint(head) } } };
  }

  function stale(since: number, asker: string | undefined): Reply {
    const rows = log.filter(({ seq }) => seq > since).map((row) => toRow(row, asker));
    const data = { code: "revision_mismatch", changes: rows, complete: true };
    const code = fault === "refuses with a code of its own" ? 4_711 : -32_009;
    if (fault === "refuses with a code of its own")
      return { error: { code, message: "no", data: { ...data, code: "no" } } };
    return { error: { code, message: "stale", ...(fault === "refuses without data" ? {} : { data }) } };
  }

  /** Waits until another write has begun, or for a while. */
  function beOvertaken(): Promise<void> {
    for (const wake of overtaking) wake();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        overtaking.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, SLOW_MS);
      overtaking.add(wake);
    });
  }

  async function move(call: Call): Promise<Reply> {
    const asker = call._meta?.["human-plus/participant"]?.id;
    const pin = call._meta?.revision;
    const known = pin === undefined ? head : (read(pin) ?? -1);
    const isEnforcing = fault !== "mints but does not enforce";
    if (isEnforcing && known < head && fault !== "writes what it refuses") return stale(known, asker);
    await beOvertaken();
    const isStale = isEnforcing && known < head && fault !== "enforces at arrival only";
    if (isStale && fault !== "writes what it refuses") return stale(known, asker);
    const refusal = stale(known, asker);
    written.push(call.arguments);
    const before = head;
    change("budget", "moved", { type: "agent", id: asker });
    if (isStale) return refusal;
    return { result: { content: [], _meta: { revision: mint(fault === "own write is stale" ? before : head) } } };
  }

  async function callTool(call: Call): Promise<Reply> {
    const { name, arguments: args = {}, _meta: meta = {} } = call;
    if (fault === "progress that shrinks" && meta.progressToken !== undefined)
      for (const progress of [2, 1])
        await send({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress } });
    const isUnread = meta.revision !== undefined && (read(meta.revision) ?? -1) < head;
    if (name !== "board_move" && isUnread && fault === "refuses reads") return stale(0, undefined);
    switch (name) {
      case "board_read":
        if (fault === "a result without end") cards.set("long", "x".repeat(70_000));
        return {
          result: { content: [{ type: "text", text: JSON.stringify([...cards]) }], _meta: { revision: mint(head) } },
        };
      case "board_move":
        return move(call);
      case "changes_since":
        return feed(args["since"], meta["human-plus/participant"]?.id);
      default:
        return fault === "takes any tool"
          ? { result: { content: [] } }
          : { error: { code: -32_602, message: "no such tool" } };
    }
  }

  function listTools(): Reply {
    const extra = {
      "offers to accept": [{ name: "board.accept" }],
      "a name with blanks": [{ name: "board tidy" }],
      "two tools of one name": [TOOLS[0]],
      "a long description": [{ name: "board_tidy", description: "x".repeat(20_000) }],
    }[fault as string];
    return {
      result: { tools: [...TOOLS, ...(extra ?? [])], ...(fault === "the same page again" && { nextCursor: "again" }) },
    };
  }

  async function answer({ method, params = {} }: { method: string; params?: Record<string, unknown> }): Promise<Reply> {
    switch (method) {
      case "initialize": {
        if (fault === "greets once" && greeted) return { error: { code: -32_600, message: "you have been here" } };
        greeted = true;
        const protocolVersion = fault === "agrees to any revision" ? params["protocolVersion"] : revision;
        return { result: { protocolVersion, capabilities: {}, serverInfo: { name: "small", version: "1" } } };
      }
      case "ping":
        if (fault === "malformed notifications")
          await send({ method: "notifications/human-plus/proposal", params: { id: "short" } });
        return { result: fault === "ping with words" ? { pong: true } : {} };
      case "tools/list":
        return listTools();
      case "tools/call":
        return callTool(params);
      default:
        return fault === "answers any method" ? { result: {} } : { error: { code: -32_601, message: "unknown" } };
    }
  }

  async function post(path: string, body: object): Promise<void> {
    const answered = await fetch(`${relay.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    await answered.text();
  }

  const send = (frame: object) => post(`/${sessionId}/outbox?token=${token}`, { jsonrpc: "2.0", ...frame });

  async function receive(data: string): Promise<void> {
    const frame = JSON.parse(data) as { id?: unknown; method: string; params?: { reason?: string } };
    const isSurprise = frame.params?.reason === "conformance" || /conformance|human-plus/.test(frame.method);
    if (frame.id === undefined) isDeaf = fault === "deaf after notifications" && isSurprise;
    if (frame.id === undefined) return;
    if (fault === "lists no tools" && frame.method === "tools/list") return;
    if (isDeaf) {
      isDeaf = false;
      return;
    }
    const reply = { id: frame.id, ...(await answer(frame)) };
    await send(reply);
    if (fault === "answers twice") await send(reply);
  }

  await post("/register", { session: sessionId, token });
  const stop = new AbortController();
  const url = `${relay.url}/${sessionId}/events?token=${token}&direction=inbound`;
  const stream = await fetch(url, { signal: stop.signal });
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === "mcp") receive(data).catch(() => undefined); // the relay may be closed meanwhile
    },
  });
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => undefined);

  return {
    invitation: { relayBaseUrl: relay.url, sessionId, token, surfaceId: "board", application: "board" },
    written,
    async act(act) {
      if (act === "change") cards.set("travel", {});
      else cards.delete("travel");
      change("travel", act === "change" ? "created" : "deleted", { type: "human" });
      await send({ method: "notifications/agent_activity", params: { source: "user" } });
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
      await relay[Symbol.asyncDispose]();
    },
  };
}
