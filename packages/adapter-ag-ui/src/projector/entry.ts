import type { ChangeRow } from "@human-plus/core";
import type { AgUiJson } from "../events.ts";
import type { SurfaceHand, SurfaceOccurrence } from "../feed/occurrence.ts";
import { type Projected, project, type SurfaceProjection } from "./projection.ts";

/** Something that happened, as people see it: words of ours, numbers, and what the projection lets out. */
export interface SurfaceEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: string;
  readonly [member: string]: AgUiJson;
}

/** Changes by hand. */
export type HandCounts = Readonly<Record<SurfaceHand, number>>;

const MAX_ROWS = 20;

/** Tool names are those of the contract; anything else a raw feed may say is left out. */
const toolName = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;

export function countHands(rows: readonly ChangeRow[]): HandCounts {
  const counts = { human: 0, agent: 0, other: 0, unknown: 0 };
  for (const { actor } of rows) counts[actor]++;
  return counts;
}

/** What of an occurrence leaves. @param before the entry of the same call or proposal, which this one takes further */
export function toEntry(
  occurrence: SurfaceOccurrence,
  projection: SurfaceProjection,
  { at, maxBytes, before }: { at: number; maxBytes: number; before: SurfaceEntry | undefined },
): SurfaceEntry {
  const shown = <T>(callback: ((value: T) => Projected) | undefined, value: T | undefined) =>
    project(callback, value, maxBytes);
  const who = "participant" in occurrence ? shown(projection.participant, occurrence.participant) : undefined;
  const rowsOf = (rows: readonly ChangeRow[]) => {
    const listed = rows.slice(0, MAX_ROWS).map((row) => shown(projection.change, row));
    return listed.filter((row) => row !== undefined);
  };
  const members = (): Record<string, AgUiJson | undefined> => {
    switch (occurrence.type) {
      case "person_acted":
        return { type: "person_acted", count: Number(before?.["count"] ?? 0) + 1 };
      case "activity":
        return {
          type: "activity",
          priority: occurrence.priority,
          activity: shown(projection.activity, occurrence),
          participant: who,
        };
      case "call_started":
        return {
          type: "call",
          tool: nameOf(occurrence.call.tool),
          state: "running",
          arguments: shown(projection.arguments, occurrence.call),
        };
      case "call_progress":
        return {
          ...before,
          type: "call",
          tool: nameOf(occurrence.call.tool),
          state: "running",
          step: numberOf(occurrence.progress),
          of: numberOf(occurrence.total),
          progress: shown(projection.progress, occurrence),
        };
      case "call_finished":
        return {
          ...before,
          type: "call",
          tool: nameOf(occurrence.call.tool),
          state: occurrence.isError ? "failed" : "finished",
          result: shown(projection.result, occurrence),
        };
      case "call_refused": {
        const { call, code, outcome, changes } = occurrence;
        return {
          ...before,
          type: "call",
          tool: nameOf(call.tool),
          state: outcome === "not_applied" ? "refused" : "failed",
          code,
          outcome,
          ...(changes.length === 0 ? {} : { against: { ...countHands(changes) }, rows: someOf(rowsOf(changes)) }),
          refusal: shown(projection.refusal, occurrence),
          participant: who,
        };
      }
      case "changed": {
        const { changes, complete } = occurrence;
        const by = { ...countHands(changes) };
        return { type: "changed", by, complete, rows: someOf(rowsOf(changes)), participant: who };
      }
      case "proposal":
        return {
          ...before,
          type: "proposal",
          tool: nameOf(occurrence.tool),
          standing: occurrence.standing,
          proposal: shown(projection.proposal, occurrence),
          participant: who,
        };
      case "tools_changed":
        return { type: "tools_changed" };
      case "availability":
        return { type: "availability", available: occurrence.available, code: occurrence.code };
      default:
        return occurrence satisfies never;
    }
  };
  const defined = Object.entries(members()).filter(([, member]) => member !== undefined);
  return { ...Object.fromEntries(defined), at: before?.at ?? at } as SurfaceEntry;
}

function someOf(rows: readonly AgUiJson[]): readonly AgUiJson[] | undefined {
  return rows.length === 0 ? undefined : rows;
}

function nameOf(tool: string): string | undefined {
  return toolName.test(tool) ? tool : undefined;
}

function numberOf(value: number | undefined): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
