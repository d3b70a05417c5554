import type { ChangeRow } from "@human-plus/core";
import { Listeners } from "./listeners.ts";
import type {
  ProposalStanding,
  SurfaceFeed,
  SurfaceHand,
  SurfaceOccurrence,
  SurfaceParticipant,
} from "./occurrence.ts";

/** As much of `createSurface(...)` of `@human-plus/surface` as is looked at. */
export interface OwnedSurface {
  subscribe(listener: () => void): () => void;
  getSnapshot(): {
    readonly history: readonly OwnedEntry[];
    readonly participants: readonly OwnedParticipant[];
    readonly proposals: ReadonlyArray<{
      readonly proposal: { readonly id: string; readonly tool: string; readonly participantId: string | undefined };
    }>;
  };
}

interface OwnedParticipant {
  readonly id: string;
  readonly name: string | undefined;
  readonly activity:
    | {
        readonly action: string;
        readonly target?: string | undefined;
        readonly priority: "background" | "normal" | "attention" | "blocking";
        readonly at: number;
      }
    | undefined;
}

type OwnedEntry = { readonly at: number } & (
  | {
      readonly type: "change";
      readonly change: {
        readonly handle: string;
        readonly kind: ChangeRow["kind"];
        readonly label?: string | undefined;
      };
      readonly hand: { readonly type: "human" | "agent" | "system"; readonly id?: string | undefined };
      readonly by: string | undefined;
    }
  | {
      readonly type: "refused";
      readonly tool: string;
      readonly participantId: string | undefined;
      readonly by: string | undefined;
      readonly changes: readonly ChangeRow[];
    }
  | {
      readonly type: "proposal";
      readonly state: ProposalStanding;
      readonly tool: string;
      readonly summary: string;
      readonly participantId: string | undefined;
      readonly by: string | undefined;
    }
);

/**
 * The feed of a surface on its owner's side: what people, agents and jobs did, refusals, proposals and activities of all
 * participants. Hands are the surface's own: `agent` is any agent, `other` a system.
 */
export function observeSurface(surface: OwnedSurface): SurfaceFeed & Disposable {
  const listeners = new Listeners<SurfaceOccurrence>();
  let told: ReadonlySet<OwnedEntry> = new Set(surface.getSnapshot().history);
  const activities = new Map<string, number>();
  for (const { id, activity } of surface.getSnapshot().participants) if (activity) activities.set(id, activity.at);
  let calls = 0;

  const unsubscribe = surface.subscribe(() => {
    const { history, participants } = surface.getSnapshot();
    const fresh = history.filter((entry) => !told.has(entry));
    told = new Set(history);
    for (const entry of fresh)
      for (const occurrence of toOccurrences(entry, () => `owner-${++calls}`)) listeners.tell(occurrence);
    const present = new Set(participants.map(({ id }) => id));
    for (const id of activities.keys()) if (!present.has(id)) activities.delete(id);
    for (const { id, name, activity } of participants) {
      if (activity === undefined || activities.get(id) === activity.at) continue;
      activities.set(id, activity.at);
      const { action, target, priority } = activity;
      listeners.tell({ type: "activity", action, target, priority, participant: { id, name } });
    }
  });
  return {
    observe: (listener) => listeners.add(listener),
    [Symbol.dispose]() {
      unsubscribe();
      listeners.clear();
    },
  };
}

const hands: Readonly<Record<"human" | "agent" | "system", SurfaceHand>> = {
  human: "human",
  agent: "agent",
  system: "other",
};

function toOccurrences(entry: OwnedEntry, callId: () => string): SurfaceOccurrence[] {
  switch (entry.type) {
    case "change": {
      const { change, hand, by } = entry;
      const { handle, kind, label } = change;
      const changes = [{ handle, kind, label, actor: hands[hand.type] }];
      const changed = { type: "changed", changes, complete: true, participant: participantOf(hand.id, by) } as const;
      return hand.type === "human" ? [{ type: "person_acted" }, changed] : [changed];
    }
    case "refused": {
      const { tool, changes, participantId, by } = entry;
      return [
        {
          type: "call_refused",
          call: { id: callId(), tool, args: {} },
          code: "surface_changed_under_you",
          outcome: "not_applied",
          changes,
          error: undefined,
          participant: participantOf(participantId, by),
        },
      ];
    }
    case "proposal": {
      const { state, tool, participantId, by } = entry;
      const participant = participantOf(participantId, by);
      return [{ type: "proposal", standing: state, tool, proposalId: undefined, reason: undefined, participant }];
    }
    default:
      return entry satisfies never;
  }
}

function participantOf(id: string | undefined, name: string | undefined): SurfaceParticipant {
  return { id, name };
}
