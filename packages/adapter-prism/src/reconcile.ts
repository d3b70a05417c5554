import {
  type ChangeReport,
  type HandlesOf,
  type HumanPlus,
  HumanPlusError,
  type JsonObject,
  type OperationOptions,
} from "@human-plus/core";
import {
  assertFunction,
  assertObject,
  assertOptions,
  assertPart,
  assertText,
  attachmentChecks,
  type Checks,
  invalid,
  operationChecks,
  optional,
  requireHandles,
} from "./argument.ts";
import type { ToolEffectRecord, ToolResult } from "./host.ts";

/** A call whose effect is not known, with what the host knows of it. */
export interface ReconcileSurfaceEffectOptions extends OperationOptions {
  /** Of the host's store, with the status `unknown`. */
  record: Pick<ToolEffectRecord, "toolCallId" | "toolName" | "status" | "createdAt">;
  /** The arguments of the call. */
  args: JsonObject;
  humanPlus: HumanPlus;
  /** Presented with every operation. */
  owner: string;
  /** The attachment that the call was made with: the feed tells whose hand a change was relative to its participant. */
  attachmentId: string;
  /** The handles that a call writes to, all of them, by the surface's name of its tool. */
  handlesOf: HandlesOf;
  /** `toolset.names`: the surface's name of each tool by the host's. @default the names are the same */
  names?: ReadonlyMap<string, string> | undefined;
  /**
   * The marker that the call was pinned to, where the host kept it: `metadata.humanplus.revision` of the attachment's last
   * result before the call. @default what the attachment is pinned to, if that was read before the call and nothing since
   */
  since?: string | undefined;
  /** Other calls of this agent since that marker whose end is not known, or, with `since`, that were made at all. @default none */
  others?: readonly { readonly tool: string; readonly args: JsonObject }[] | undefined;
}

/** What became of an effect, for the host's `resolveUnknown`. */
export type SurfaceEffectOutcome =
  /** The call was carried out. */
  | { readonly status: "completed"; readonly result: ToolResult; readonly reason: string }
  /** The call was not carried out, and cannot be any more: `failed_terminal`. */
  | { readonly status: "failed"; readonly failure: { readonly code: string }; readonly reason: string }
  /** It cannot be told. The record stays as it is. */
  | { readonly status: "unknown"; readonly reason: string };

/** What the caller did wrong, or stopped: the effect is not at fault. */
const CALLERS: ReadonlySet<string> = new Set(["invalid_argument", "attachment_not_found", "aborted", "closed"]);

/**
 * Finds out what became of a call whose effect was left `unknown`, by the surface's change feed, and never guesses:
 *
 * - completed: since the marker that the call was pinned to, this agent's hand changed every handle that the call writes to
 * - failed: this agent changed none of them, somebody else changed one, and the surface is known to refuse stale pins. So
 *   the call was refused, or would be if it came now
 * - unknown: everything else, and every feed that is partial, cannot be read, or does not say whose hand it was
 *
 * It relies on what PROTOCOL.md section 6 asks of a surface: a feed that calls itself complete names every hand that
 * changed a handle, not the last one alone. Of a surface that does otherwise, `failed` may be wrong.
 *
 * The feed is looked up, not read: what is news for the next turn stays news. Reconcile before the agent goes on with the
 * attachment, or say what it did in `others`: two calls of one agent on one handle cannot be told apart.
 *
 * @throws HumanPlusError `invalid_argument`, `attachment_not_found`, `aborted`, `closed`
 */
export async function reconcileSurfaceEffect(options: ReconcileSurfaceEffectOptions): Promise<SurfaceEffectOutcome> {
  assertOptions("reconcileSurfaceEffect", options, checks);
  const { record, args, humanPlus, owner, attachmentId, names, others = [], signal, timeoutMs } = options;
  const tool = names === undefined ? record.toolName : names.get(record.toolName);
  if (tool === undefined) return unknown("the surface offers no tool of this name");
  const handlesOf: HandlesOf = (...call) => requireHandles("handlesOf(...)", options.handlesOf(...call));
  const handles = new Set(handlesOf(tool, args));
  if (handles.size === 0) return unknown("no handle is known that the call writes to");
  const isShared = others.some((other) => [...handlesOf(other.tool, other.args)].some((handle) => handles.has(handle)));
  if (isShared) return unknown("another call of this agent worked on the same handle");
  try {
    const { pin, conflictDetection } = await humanPlus.status(owner, attachmentId);
    const since = options.since ?? (isBefore(pin?.observedAt, record) ? pin?.marker : undefined);
    if (since === undefined) return unknown("no marker is known that was read before the call and nothing since");
    const report = await humanPlus.changesSince(owner, attachmentId, { since, signal, timeoutMs });
    return judge(report, handles, { isEnforced: conflictDetection === "enforced", record, tool });
  } catch (error) {
    if (!(error instanceof HumanPlusError) || CALLERS.has(error.code)) throw error;
    return unknown(`the change feed could not be asked: ${error.code}`);
  }
}

const checks: Checks<ReconcileSurfaceEffectOptions> = {
  ...attachmentChecks,
  ...operationChecks,
  record(name, value) {
    assertObject(name, value);
    const { toolCallId, toolName, status, createdAt } = value as Record<keyof Case["record"] | "status", unknown>;
    assertText(`${name}.toolCallId`, toolCallId);
    assertText(`${name}.toolName`, toolName);
    if (status !== "unknown") throw invalid(`${name}.status`, JSON.stringify("unknown"), status);
    if (typeof createdAt !== "string" && typeof createdAt !== "number")
      throw invalid(`${name}.createdAt`, "a time, as milliseconds or as text", createdAt);
  },
  args: assertObject,
  handlesOf: assertFunction,
  names: optional(assertPart("toolset.names", "get")),
  since: optional(assertText),
  others: optional((name, value) => {
    if (!Array.isArray(value)) throw invalid(name, "a list of calls", value);
    for (const [index, other] of value.entries()) {
      assertObject(`${name}[${index}]`, other);
      const { tool, args } = other as { tool?: unknown; args?: unknown };
      assertText(`${name}[${index}].tool`, tool);
      assertObject(`${name}[${index}].args`, args);
    }
  }),
};

/** Whether something was observed before the call was made; both are times of this agent's own hosts. */
function isBefore(observedAt: number | undefined, { createdAt }: Pick<ToolEffectRecord, "createdAt">): boolean {
  return observedAt !== undefined && observedAt <= new Date(createdAt).getTime();
}

interface Case {
  readonly isEnforced: boolean;
  readonly record: ReconcileSurfaceEffectOptions["record"];
  readonly tool: string;
}

function judge(
  { answered, complete, unreadable, changes }: ChangeReport,
  handles: ReadonlySet<string>,
  { isEnforced, record, tool }: Case,
): SurfaceEffectOutcome {
  if (!answered) return unknown("the surface offers no change feed that this agent may ask");
  if (!complete || unreadable > 0) return unknown("the change feed does not know of everything that changed");
  const rows = changes.filter(({ handle }) => handles.has(handle));
  if (rows.some(({ actor }) => actor === "unknown")) return unknown("the change feed does not say whose hand it was");
  const own = new Set(rows.filter(({ actor }) => actor === "agent").map(({ handle }) => handle));
  if (own.size === handles.size) return completed(record, tool);
  if (own.size > 0) return unknown("only a part of what the call writes to was changed by this agent");
  if (rows.length === 0) return unknown("nothing that the call writes to has changed: it may still be under way");
  if (!isEnforced)
    return unknown(
      "somebody else changed what the call writes to, and whether the surface refuses such calls is not known",
    );
  const reason = "somebody else changed what the call writes to, and the surface refuses such calls";
  return { status: "failed", failure: { code: "surface_changed_under_you" }, reason };
}

function completed({ toolCallId, toolName: name }: Case["record"], tool: string): SurfaceEffectOutcome {
  const text =
    "The answer to this call was lost, but the surface's change feed shows that it was carried out. Do not repeat it; read the surface to see what it gave.";
  const metadata = { humanplus: { tool, outcome: "applied", reconciled: true } };
  const result: ToolResult = { toolCallId, name, value: { text }, metadata };
  return { status: "completed", result, reason: "this agent changed what the call writes to" };
}

function unknown(reason: string): SurfaceEffectOutcome {
  return { status: "unknown", reason };
}
