import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a small relay does wrong. */
export type RelayFault =
  | "broadcasts replies"
  | "401 for a gone session"
  | "410 for a wrong token"
  | "delivers replies twice"
  | "passes on second replies"
  | "passes on unasked replies"
  | "no resume"
  | "repeats on resume"
  | "skips in silence"
  | "no retry"
  | "no keepalive"
  | "buffers"
  | "passes on forged presence"
  | "tells of every leg"
  | "unregister ends the session"
  | "session taken over"
  | "changes ids"
  | "large frames break the connection"
  | "takes any size"
  | "never absent"
  | "same ids"
  | "direction inbound"
  | "echoes the token"
  | "plain refusals"
  | "no OPTIONS"
  | "tells agents what agents say"
  | "repeats notifications"
  | "no replies to unlabelled agents"
  | "forgets a reload"
  | "silent when a client leaves"
  | "mangles numbers"
  | "refuses large frames that it should take";

interface Reader {
  readonly client: string | undefined;
  readonly frames: { seq: number; text: string }[];
  readonly legs: Set<ServerResponse>;
  read: number;
}

interface Session {
  readonly token: string;
  readonly surface: Reader;
  readonly clients: Map<string | undefined, Reader>;
  readonly asked: Map<unknown, string | undefined>;
  seenAt: number;
}

export interface SmallRelay extends AsyncDisposable {
  readonly url: string;
}

interface SmallFrame {
  readonly id?: unknown;
  readonly method?: string;
}

const FRAME_BYTES = 262_144;
const GRACE_MS = 1_500;

/** A relay of nothing but event streams, sound but for what it is told to do wrong. */
export async function startSmallRelay(fault?: RelayFault): Promise<SmallRelay> {
  const sessions = new Map<string, Session>();
  const gone = new Set<string>();
  let sequence = 0;

  const createReader = (client?: string): Reader => ({ client, frames: [], legs: new Set(), read: sequence });

  function clientOf(session: Session, client: string | undefined): Reader {
    const reader = session.clients.get(client) ?? createReader(client);
    session.clients.set(client, reader);
    return reader;
  }

  function append(reader: Reader, text: string, times = 1): void {
    for (let time = 0; time < times; time++) reader.frames.push({ seq: ++sequence, text });
    flush(reader);
  }

  function flush(reader: Reader): void {
    if (reader.legs.size === 0) {
      if (fault === "no resume" && reader.client !== undefined) reader.read = sequence;
      return;
    }
    for (const { seq, text } of reader.frames)
      if (seq > reader.read) for (const leg of reader.legs) write(leg, seq, text);
    reader.read = sequence;
  }

  function write(leg: ServerResponse, seq: number, text: string): void {
    const data = fault === "mangles numbers" ? text.replace("1.5", "1") : text;
    leg.write(`id: c${seq}\nevent: mcp\ndata: ${data}\n\n`);
  }

  function announce(session: Session, method: string, client: string): void {
    append(session.surface, JSON.stringify({ jsonrpc: "2.0", method: `notifications/${method}`, params: { client } }));
  }

  function open(session: Session, reader: Reader, cursor: string | undefined, response: ServerResponse): void {
    const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
    response.writeHead(200, fault === "buffers" ? headers : { ...headers, "x-accel-buffering": "no" });
    response.write(fault === "no retry" ? ": welcome\n\n" : "retry: 2000\n\n");
    const from = /^c\d+$/.test(cursor ?? "") ? Number(cursor?.slice(1)) : undefined;
    if (cursor !== undefined && from === undefined && fault !== "skips in silence")
      response.write("event: gap\ndata: {}\n\n");
    const isFirst = reader.legs.size === 0;
    if (from !== undefined) reader.read = fault === "repeats on resume" ? 0 : fault === "no resume" ? sequence : from;
    reader.legs.add(response);
    if (isFirst) flush(reader);
    const timer = setInterval(() => fault !== "no keepalive" && response.write(": keepalive\n\n"), 50);
    response.once("close", () => {
      clearInterval(timer);
      reader.legs.delete(response);
      if (reader === session.surface) session.seenAt = performance.now();
    });
    if (reader.client !== undefined && (isFirst || fault === "tells of every leg"))
      announce(session, "peer_joined", reader.client);
  }

  function fromAgent(session: Session, client: string | undefined, text: string): [number, string?] {
    const frame: SmallFrame = JSON.parse(text);
    if (isPresence(frame) && fault !== "passes on forged presence") return [200];
    const isThere = session.surface.legs.size > 0 || performance.now() - session.seenAt < GRACE_MS;
    if (!isThere && fault !== "never absent") return [503, "surface_absent"];
    clientOf(session, client);
    if (frame.id !== undefined) {
      if (session.asked.has(frame.id) && fault !== "same ids") return [429, "request_id_in_flight"];
      session.asked.set(frame.id, client);
    }
    if (fault === "tells agents what agents say") for (const reader of session.clients.values()) append(reader, text);
    if (fault === "forgets a reload" && session.surface.legs.size === 0) return [200];
    append(
      session.surface,
      fault === "changes ids" ? JSON.stringify({ ...frame, id: frame.id && String(frame.id) }) : text,
    );
    return [200];
  }

  function fromSurface(session: Session, text: string): [number, string?] {
    const frame: SmallFrame = JSON.parse(text);
    if (isPresence(frame) && fault !== "passes on forged presence") return [200];
    if (frame.method !== undefined) {
      for (const reader of session.clients.values()) append(reader, text, fault === "repeats notifications" ? 2 : 1);
      return [200];
    }
    const isAsked = session.asked.has(frame.id);
    const asker = session.clients.get(session.asked.get(frame.id));
    if (fault !== "passes on second replies") session.asked.delete(frame.id);
    if (fault === "broadcasts replies" && isAsked) for (const reader of session.clients.values()) append(reader, text);
    else if (fault === "passes on unasked replies" && !isAsked)
      for (const reader of session.clients.values()) append(reader, text);
    else if (fault === "no replies to unlabelled agents" && asker?.client === undefined) return [200];
    else if (isAsked && asker !== undefined) append(asker, text, fault === "delivers replies twice" ? 2 : 1);
    return [200];
  }

  function unregister(id: string, session: Session, client: string | undefined): void {
    const reader = session.clients.get(client);
    if (client !== undefined && fault !== "unregister ends the session") {
      session.clients.delete(client);
      for (const leg of reader?.legs ?? []) leg.end();
      if (reader !== undefined && fault !== "silent when a client leaves") announce(session, "peer_left", client);
      return;
    }
    sessions.delete(id);
    gone.add(id);
    for (const { legs } of [session.surface, ...session.clients.values()]) for (const leg of legs) leg.end();
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://relay");
    const [, mount, first = "", route] = url.pathname.split("/");
    const token = url.searchParams.get("token");
    const client = url.searchParams.get("client") ?? undefined;
    const answer = (status: number, code?: string) => {
      const body = code === undefined ? { ok: true } : { error: code };
      if (code !== undefined && route === "events" && fault !== "plain refusals")
        response.writeHead(status, { "content-type": "text/event-stream" }).end(`event: error\ndata: ${code}\n\n`);
      else
        response
          .writeHead(status, { "content-type": "application/json" })
          .end(JSON.stringify(fault === "echoes the token" ? { ...body, token } : body));
    };
    if (request.method === "OPTIONS") return void response.writeHead(fault === "no OPTIONS" ? 404 : 204).end();
    const body = await bodyOf(request);
    if (mount !== "relay") return answer(404, "not_found");
    if (first === "") return answer(200);
    if (first === "register") {
      if (request.method !== "POST") return answer(405, "method_not_allowed");
      const fields = parse(body) as { session?: unknown; token?: unknown } | undefined;
      if (fields === undefined) return answer(400, "invalid_json");
      if (typeof fields.session !== "string" || typeof fields.token !== "string") return answer(400, "missing_fields");
      if (!/^[A-Za-z0-9_-]{4,64}$/.test(fields.session)) return answer(401, "invalid_session_id");
      if (fields.token.length < 16) return answer(401, "invalid_token");
      const known = sessions.get(fields.session);
      if (known !== undefined && known.token !== fields.token && fault !== "session taken over")
        return answer(401, "session_taken");
      if (known === undefined) {
        const surface = createReader();
        const fresh = { clients: new Map(), asked: new Map(), seenAt: performance.now() };
        sessions.set(fields.session, { token: fields.token, surface, ...fresh });
      }
      return answer(200);
    }
    const session = sessions.get(first);
    if (session === undefined && (route === "unregister" || !gone.has(first)))
      return route === "unregister" ? answer(200) : answer(410, "session_gone");
    if (session === undefined)
      return fault === "401 for a gone session" ? answer(401, "invalid_token") : answer(410, "session_gone");
    if (token !== session.token)
      return fault === "410 for a wrong token" ? answer(410, "session_gone") : answer(401, "invalid_token");
    const most = fault === "refuses large frames that it should take" ? FRAME_BYTES / 2 : FRAME_BYTES;
    if (body.length > most && fault !== "takes any size") {
      if (fault === "large frames break the connection") response.setHeader("connection", "close");
      return answer(413, "payload_too_large");
    }
    switch (`${request.method} ${route}`) {
      case "POST inbox":
      case "POST outbox": {
        const frame = parse(body);
        if (frame === undefined) return answer(400, "invalid_json");
        if (Array.isArray(frame)) return answer(400, "missing_fields");
        return answer(...(route === "inbox" ? fromAgent(session, client, body) : fromSurface(session, body)));
      }
      case "POST unregister":
        unregister(first, session, client);
        return answer(200);
      case "GET events": {
        const given = url.searchParams.get("direction");
        const direction = given ?? (client === undefined || fault === "direction inbound" ? "inbound" : "outbound");
        const reader = direction === "inbound" ? session.surface : clientOf(session, client);
        return open(session, reader, request.headers["last-event-id"]?.toString(), response);
      }
      default:
        return answer(404, "not_found");
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/relay`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isPresence({ method }: SmallFrame): boolean {
  return method === "notifications/peer_joined" || method === "notifications/peer_left";
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
