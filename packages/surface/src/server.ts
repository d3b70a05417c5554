import {
  type CallMeta,
  type CallToolRequest,
  isCallToolRequest,
  isClientId,
  isNotification,
  isRequest,
  type JsonObject,
  jsonRpcVersion,
  limits,
  mcpProtocolVersion,
  methods,
  type Notification,
  type ProposalReceipt,
  parseJsonText,
  type Request,
  type RequestId,
  type ResultMeta,
  rpcErrorCodes,
  type StaleRefusal,
  utf8Length,
} from "@human-plus/core/protocol";
import { type CallRun, type Draft, runCall, toContent } from "./call.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Markers } from "./marker.ts";
import type { Presence } from "./presence.ts";
import { StalePinError, ToolError } from "./tool-error.ts";
import { FEED_TOOL, type ToolList } from "./tool-list.ts";
import type { Writer } from "./writer.ts";

/** The surface's end of one way to its agents. */
export interface SurfaceChannel {
  /** Takes one frame as text. What is no frame is dropped. */
  receive(text: string): void;
  /** No agent is known to be there any more. */
  reset(): void;
  /** Aborts its calls and lets go of the surface. */
  close(): void;
}

export interface ServerParts {
  readonly application: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly maxConcurrentCalls: number;
  readonly log: ChangeLog;
  readonly markers: Markers;
  readonly writer: Writer;
  readonly tools: ToolList;
  readonly presence: Presence;
  readonly now: () => number;
  /** Runs the part of a handler that comes before its first await. */
  readonly asTool: <T>(run: () => T) => T;
  /** Answers the change feed. */
  readonly feed: (args: JsonObject, participantId: string | undefined) => Reply;
  readonly propose: (tool: string, participantId: string | undefined, draft: Draft) => ProposalReceipt;
  readonly onRefused: (tool: string, participantId: string | undefined, error: StalePinError) => void;
  readonly onError: (error: unknown, tool: string) => void;
}

/** What becomes of a request. */
type Reply = { readonly result: JsonObject } | { readonly error: { code: number; message: string; data?: JsonObject } };

interface Running {
  readonly id: RequestId;
  readonly text: string;
  readonly abort: AbortController;
  /** Belongs to one channel. */
  readonly notify: Notify;
}

type Notify = (frame: Notification) => void;

const MAX_REMEMBERED = 256;

/** Answers MCP requests. What it remembers of agents it keeps for all channels. */
export function createServer(parts: ServerParts): (send: (text: string) => void) => SurfaceChannel {
  const { application, version, instructions, maxConcurrentCalls, log, markers, writer, tools, presence, now } = parts;
  /** Calls that run, by who calls and the request's id. */
  const running = new Map<string, Running>();
  /** Calls that wrote: the same frame must not write again when a relay delivers it twice. */
  const written = new Map<string, { readonly text: string; readonly at: number }>();
  /** By participant, the latest commits whose answers were sent. */
  const answered = new Map<string, number[]>();

  function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.keys();
    if (map.size > MAX_REMEMBERED && oldest !== undefined) map.delete(oldest);
  }

  function toReply(run: CallRun, output: Parameters<typeof toContent>[0], receipt?: ProposalReceipt): Reply {
    const { content, structuredContent, isError } = toContent(output);
    const _meta: ResultMeta = {
      revision: run.revision(isError),
      ...(receipt && { "human-plus/proposal": receipt }),
    };
    return { result: { content, ...(structuredContent && { structuredContent }), isError, _meta } };
  }

  function toFailure(error: unknown, run: CallRun, tool: string, meta: CallMeta, signal: AbortSignal): Reply {
    const written = run.commits.length > 0;
    const stale = error instanceof StalePinError;
    const participantId = meta["human-plus/participant"]?.id;
    if (stale) parts.onRefused(tool, participantId, error);
    else if (!(error instanceof ToolError || signal.aborted)) parts.onError(error, tool);
    if (stale && !written) {
      const data: Omit<StaleRefusal, "unreadable"> = {
        code: "revision_mismatch",
        changes: [...error.changes],
        complete: error.complete,
      };
      const message = `${error.message} Nothing was written.`;
      return { error: { code: rpcErrorCodes.staleRevision, message, data: { ...data } } };
    }
    if (signal.aborted && !written)
      return { error: { code: rpcErrorCodes.cancelled, message: "Cancelled. Nothing was written." } };
    const why =
      stale || error instanceof ToolError ? error.message : signal.aborted ? "Cancelled." : "The tool failed.";
    const content = written ? `${why} It had already written a part: read again.` : why;
    return toReply(run, { content, isError: true });
  }

  async function runTool(request: CallToolRequest, text: string, notify: Notify): Promise<Reply | undefined> {
    const { name, arguments: args = {}, _meta: meta = {} } = request.params;
    const participantId = meta["human-plus/participant"]?.id;
    const tool = tools.get(name);
    if (participantId !== undefined) presence.touch(participantId);
    if (tool === undefined) return refusal(rpcErrorCodes.invalidParams, `There is no tool ${name}.`);
    if (name === FEED_TOOL.name) return parts.feed(args, participantId);
    const key = JSON.stringify([participantId, request.id]);
    const twin = running.get(key);
    if (twin?.text === text) return undefined; // delivered twice: the first one answers
    const before = written.get(key);
    if (twin !== undefined || (before?.text === text && before.at + limits.queueAgeMs > now()))
      return refusal(rpcErrorCodes.invalidRequest, "The id of this request belongs to another call. Nothing was done.");
    if (running.size >= maxConcurrentCalls)
      return {
        result: { ...toContent({ content: "The surface is busy. Nothing was done; call again.", isError: true }) },
      };
    const abort = new AbortController();
    running.set(key, { id: request.id, text, abort, notify });
    let reached = Number.NEGATIVE_INFINITY;
    const run = parts.asTool(() =>
      runCall({
        tool,
        args,
        meta,
        signal: abort.signal,
        log,
        markers,
        writer,
        answered: () => answered.get(participantId ?? "") ?? [],
        progress(progress, options) {
          if (meta.progressToken === undefined || progress <= reached || running.get(key)?.abort !== abort) return;
          reached = progress;
          const params = { progressToken: meta.progressToken, progress, ...options };
          notify({ jsonrpc: jsonRpcVersion, method: methods.progress, params });
        },
      }),
    );
    writer.inspect(name);
    let reply: Reply;
    try {
      const output = await run.output;
      abort.signal.throwIfAborted();
      const draft = run.draft();
      reply =
        draft === undefined
          ? toReply(run, output)
          : toReply(
              run,
              output ?? "Proposed. Nothing is written until a person accepts.",
              parts.propose(name, participantId, draft),
            );
      if (draft !== undefined) remember(written, key, { text, at: now() });
    } catch (error) {
      reply = toFailure(error, run, name, meta, abort.signal);
    }
    writer.inspect(name);
    running.delete(key);
    if (run.commits.length > 0) {
      remember(written, key, { text, at: now() });
      if (participantId !== undefined)
        remember(
          answered,
          participantId,
          [...(answered.get(participantId) ?? []), ...run.commits].slice(-MAX_REMEMBERED),
        );
    }
    return reply;
  }

  async function answer(request: Request, text: string, notify: Notify): Promise<Reply | undefined> {
    switch (request.method) {
      case methods.initialize:
        return {
          result: {
            protocolVersion: mcpProtocolVersion,
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name: application, version },
            ...(instructions && { instructions }),
          },
        };
      case methods.ping:
        return { result: {} };
      case methods.listTools: {
        const cursor = request.params?.["cursor"];
        const page = cursor === undefined || typeof cursor === "string" ? tools.page(cursor) : undefined;
        return page === undefined ? refusal(rpcErrorCodes.invalidParams, "Unknown cursor.") : { result: { ...page } };
      }
      case methods.callTool: {
        const call: unknown = request;
        if (isCallToolRequest(call)) return runTool(call, text, notify);
        return refusal(rpcErrorCodes.invalidParams, "The parameters are not those of a call.");
      }
      default:
        return refusal(rpcErrorCodes.methodNotFound, "Unknown method.");
    }
  }

  return (send) => {
    const peers = new Set<string>();

    function notify(frame: Notification): void {
      send(JSON.stringify(frame));
    }

    function reply({ id, method, params }: Request, reply: Reply): void {
      try {
        const text = JSON.stringify({ jsonrpc: jsonRpcVersion, id, ...reply });
        if (utf8Length(text) <= limits.frameBytes) {
          send(text);
          return;
        }
      } catch (error) {
        parts.onError(error, String(params?.["name"] ?? method));
      }
      const _meta = "result" in reply ? reply.result["_meta"] : undefined;
      const content =
        "The result is no JSON, or larger than a relay carries. What the call wrote, if anything, stays written.";
      send(
        JSON.stringify({ jsonrpc: jsonRpcVersion, id, result: { ...toContent({ content, isError: true }), _meta } }),
      );
    }

    function receiveNotification({ method, params }: Notification): void {
      switch (method) {
        case methods.cancelled: {
          const calls = [...running.values()].filter(({ id }) => id === params?.["requestId"]);
          if (calls.length === 1) calls[0]?.abort.abort(new ToolError("The call was cancelled."));
          return;
        }
        case methods.activity:
          presence.announce(params);
          return;
        case methods.peerJoined:
        case methods.peerLeft: {
          const client = params?.["client"];
          if (!isClientId(client)) return;
          if (method === methods.peerJoined) {
            if (peers.size < MAX_REMEMBERED) peers.add(client);
            return;
          }
          peers.delete(client);
          presence.leave(client, peers);
          return;
        }
      }
    }

    return {
      receive(text) {
        const read = parseJsonText(text, limits.frameBytes);
        const frame = read.ok ? read.value : undefined;
        if (isNotification(frame)) receiveNotification(frame);
        if (!isRequest(frame)) return;
        answer(frame, text, notify).then(
          (result) => result && reply(frame, result),
          (error) => {
            parts.onError(error, frame.method);
            reply(frame, refusal(rpcErrorCodes.internalError, "The surface failed."));
          },
        );
      },
      reset: () => peers.clear(),
      close() {
        for (const call of running.values())
          if (call.notify === notify) call.abort.abort(new ToolError("The surface left."));
      },
    };
  };
}

function refusal(code: number, message: string): Reply {
  return { error: { code, message } };
}
