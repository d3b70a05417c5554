import {
  type CallMeta,
  type JsonObject,
  methods,
  parseChangeFeed,
  parseFrame,
  parseRevisionReading,
  parseRpcError,
  safeParseStaleRefusal,
} from "@human-plus/core/protocol";
import type { Surface } from "../src/index.ts";

export interface Answer {
  readonly result: JsonObject | undefined;
  readonly error: JsonObject | undefined;
}

/** An agent at a surface in the same process: what goes over the wire, without a wire. */
export interface LocalAgent {
  readonly notifications: JsonObject[];
  request(method: string, params?: JsonObject, id?: string | number): Promise<Answer>;
  notify(method: string, params?: JsonObject): void;
  call(name: string, args?: JsonObject, meta?: Partial<CallMeta>, id?: string | number): Promise<Answer>;
  /** Resolves with the first notification of this method, past or future. */
  notified(method: string): Promise<JsonObject>;
  raw(text: string): void;
  leave(): void;
}

export function joinLocally(surface: Surface, participantId?: string): LocalAgent {
  const waiting = new Map<string | number, (answer: Answer) => void>();
  const notifications: JsonObject[] = [];
  const listeners = new Set<() => void>();
  const channel = surface.open((text) => {
    const frame = parseFrame(JSON.parse(text));
    if (frame.method !== undefined) {
      notifications.push({ method: frame.method, params: frame.params });
      for (const listener of listeners) listener();
    } else if (frame.id !== null && frame.id !== undefined) {
      waiting.get(frame.id)?.({ result: frame.result, error: frame.error });
      waiting.delete(frame.id);
    }
  });
  const send = (frame: JsonObject) => channel.receive(JSON.stringify({ jsonrpc: "2.0", ...frame }));

  function request(method: string, params: JsonObject = {}, id: string | number = crypto.randomUUID()) {
    return new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  }

  return {
    notifications,
    request,
    notify: (method, params = {}) => send({ method, params }),
    call(name, args = {}, meta = {}, id = crypto.randomUUID()) {
      const participant = participantId === undefined ? {} : { "human-plus/participant": { id: participantId } };
      return request(methods.callTool, { name, arguments: args, _meta: { ...participant, ...meta } }, id);
    },
    notified(method) {
      return new Promise((resolve) => {
        const look = () => {
          const found = notifications.find((notification) => notification["method"] === method);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found["params"] as JsonObject);
        };
        listeners.add(look);
        look();
      });
    },
    raw: channel.receive,
    leave: channel.close,
  };
}

/** The marker of an answer. */
export function revisionOf({ result, error }: Answer): string {
  const { revision } = parseRevisionReading(result ?? {});
  if (revision === undefined) throw new Error(`no marker in ${JSON.stringify(result ?? error)}`);
  return revision;
}

/** The rows and completeness of a feed's answer, as an agent reads them. */
export function feedOf({ result }: Answer): { rows: string[]; complete: boolean; reason: string | undefined } {
  const { changes, complete, reason } = parseChangeFeed(result);
  return { rows: changes.map(({ handle, kind, actor }) => `${handle} ${kind} ${actor}`), complete, reason };
}

/** What a stale refusal says, or `undefined` if the call was not refused as stale. */
export function refusalOf({ error }: Answer): { rows: string[]; complete: boolean } | undefined {
  if (error === undefined || parseRpcError(error).conflict !== "stale") return undefined;
  const data = safeParseStaleRefusal(error["data"]);
  if (!data.ok) throw new Error(`a stale refusal that cannot be read: ${JSON.stringify(error)}`);
  const { changes, complete } = data.value;
  return { rows: changes.map(({ handle, kind, actor }) => `${handle} ${kind} ${actor}`), complete };
}

export function textOf({ result }: Answer): string {
  const [part] = (result?.["content"] ?? []) as { text?: string }[];
  return part?.text ?? "";
}
