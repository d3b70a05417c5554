import type { CallMeta, ContentPart, JsonObject } from "@human-plus/core/protocol";
import { rowFor } from "./attribution.ts";
import { type Change, type Hand, readChanges } from "./change.ts";
import type { ChangeLog, Commit } from "./change-log.ts";
import { extendReading, type Markers, type Reading } from "./marker.ts";
import type { Call, StagedCall, ToolOptions, ToolOutput } from "./tool.ts";
import { StalePinError, ToolError } from "./tool-error.ts";
import type { Conflict, Touches } from "./touch.ts";
import { undoLatest } from "./undo.ts";
import type { Writer } from "./writer.ts";

/** What a handler proposed. */
export interface Draft {
  readonly changes: readonly Change[];
  readonly summary: string;
  /** Applies it as the caller's hand; false if the pin no longer holds. */
  readonly write: () => boolean;
}

export interface CallParts {
  readonly tool: ToolOptions<never>;
  readonly args: JsonObject;
  readonly meta: CallMeta;
  readonly signal: AbortSignal;
  readonly log: ChangeLog;
  readonly markers: Markers;
  readonly writer: Writer;
  /** Commits of this participant whose answers were sent: whoever has the next answer has had those. */
  readonly answered: () => readonly number[];
  readonly progress: Call["progress"];
}

export interface CallRun {
  /** Settles when the handler has. */
  readonly output: Promise<ToolOutput>;
  /** Commits of the call. */
  readonly commits: readonly number[];
  readonly draft: () => Draft | undefined;
  /** The marker to answer with. */
  revision(failed: boolean): string;
}

const MAX_SUMMARY = 256;

/** Runs one handler with its pin, and knows what its caller has read afterwards. Runs its first part at once. */
export function runCall({ tool, args, meta, signal, log, markers, writer, answered, progress }: CallParts): CallRun {
  const participantId = meta["human-plus/participant"]?.id;
  const hand: Hand = { type: "agent", id: participantId };
  const start = log.head;
  const pin = meta.revision === undefined ? undefined : readPin(markers, meta.revision, start);
  /** Of another life of the surface: the caller has read nothing of this one. */
  const base = meta.revision === undefined ? start : (pin?.base ?? -1);
  const commits: number[] = [];
  /** Later commits that the caller knows: those of its pin, and its own. */
  const seen = new Set(pin?.seen);
  let touches: Touches = "all";
  let draft: Draft | undefined;
  let settled = false;

  const guard = () => ({
    touches,
    base,
    seenIsChecked: true,
    isSeen: ({ seq }: Commit) => seen.has(seq),
    refuse: ({ found, complete }: Conflict) =>
      new StalePinError(
        found.map(({ commit, change }) => rowFor(participantId, commit, change)),
        complete,
      ),
  });
  /** An unpinned call writes over anything, but a proposal of it must not write over what came later. */
  const guarded = meta.revision === undefined ? undefined : guard;

  function wrote(seq: number): void {
    commits.push(seq);
    seen.add(seq);
  }

  function assertWriting(): void {
    signal.throwIfAborted();
    if (settled) throw new Error(`${tool.name} has already answered: it can write no more`);
    if (touches === "none") throw new Error(`${tool.name} says that it touches nothing, and writes`);
  }

  function assertFresh(changes?: readonly Change[]): void {
    const view = guarded?.();
    const against = view && writer.conflict(view, changes);
    if (view !== undefined && against !== undefined) throw view.refuse(against);
  }

  const shared = {
    tool: tool.name,
    participantId,
    signal,
    pinned: meta.revision !== undefined,
    progress,
    assertFresh: () => assertFresh(),
  };
  const writing: Pick<Call, "commit" | "undo"> = {
    commit(changes, apply, { undo } = {}) {
      assertWriting();
      const { commit, value } = writer.write({ changes, apply, hand, undo, guard: guarded?.() });
      wrote(commit.seq);
      return value;
    },
    undo() {
      assertWriting();
      const isMine = (of: Hand) => participantId !== undefined && of.type === "agent" && of.id === participantId;
      return undoLatest(log, writer, { ofHand: isMine, by: hand, wrote });
    },
  };
  const proposing: Pick<StagedCall, "propose"> = {
    propose(given, apply, { undo, summary = tool.name } = {}) {
      assertWriting();
      if (draft !== undefined) throw new Error(`${tool.name} proposes twice in one call`);
      const changes = readChanges(given);
      assertFresh(changes);
      const write = () => {
        const against = guard();
        if (writer.conflict(against, changes) !== undefined) return false;
        writer.write({ changes, apply, hand, undo, guard: against });
        return true;
      };
      draft = { changes, summary: summary.slice(0, MAX_SUMMARY), write };
    },
  };

  async function run(): Promise<ToolOutput> {
    const parsed = tool.parse === undefined ? args : parse(tool.parse, args);
    touches = (typeof tool.touches === "function" ? tool.touches(parsed as never) : tool.touches) ?? "all";
    try {
      return await (tool.stage
        ? tool.handler(parsed as never, { ...shared, ...proposing })
        : tool.handler(parsed as never, { ...shared, ...writing }));
    } finally {
      settled = true;
    }
  }

  return {
    output: run(),
    commits,
    draft: () => draft,
    revision(failed) {
      const showsState = tool.showsState ?? (commits.length === 0 && !tool.stage && !Array.isArray(touches));
      const read: Reading = showsState && !failed ? { base: start, seen: [] } : (pin ?? { base: start, seen: [] });
      if (meta.revision !== undefined && pin === undefined && (failed || !showsState)) return meta.revision;
      return markers.mint(extendReading(read, [...answered(), ...commits]));
    },
  };
}

/** A marker that was minted in this life of the surface. */
function readPin(markers: Markers, revision: string, head: number): Reading | undefined {
  const pin = markers.read(revision);
  return pin !== undefined && [pin.base, ...pin.seen].every((seq) => seq <= head) ? pin : undefined;
}

function parse(parseArguments: (args: JsonObject) => unknown, args: JsonObject): unknown {
  try {
    return parseArguments(args);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError("The arguments are not what the tool takes.");
  }
}

/** What a handler gave, as the parts of a result. */
export function toContent(output: ToolOutput): {
  content: ContentPart[];
  structuredContent?: JsonObject;
  isError: boolean;
} {
  const { content, structuredContent, isError = false } = typeof output === "object" ? output : { content: output };
  const text = content ?? (structuredContent && JSON.stringify(structuredContent)) ?? [];
  return {
    content: typeof text === "string" ? [{ type: "text", text }] : text,
    ...(structuredContent && { structuredContent }),
    isError,
  };
}
