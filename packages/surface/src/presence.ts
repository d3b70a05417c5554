import { type Activity, isActivity } from "@human-plus/core/protocol";

/** An agent as people at the surface see it. */
export interface Participant {
  readonly id: string;
  /** What it calls itself: untrusted text. Unknown until it announces itself. */
  readonly name: string | undefined;
  /** `#rgb` or `#rrggbb`. */
  readonly color: string | undefined;
  /** What it is doing now; gone when it is older than `activityTtlMs`. */
  readonly activity:
    | (Pick<Activity, "action" | "target" | "priority" | "correlationId"> & { readonly at: number })
    | undefined;
  /** False once its connection is known to be gone; it comes back by acting. */
  readonly connected: boolean;
  /** When it last did anything, in milliseconds since 1970. */
  readonly seenAt: number;
}

export interface Presence {
  /** Takes what an agent says of itself, if it reads as the contract says and is meant for this surface. */
  announce(params: unknown): void;
  /** A participant made a call. */
  touch(id: string): void;
  get(id: string | undefined): Participant | undefined;
  list(): Participant[];
  /**
   * A client left; `remaining` is who is still there. An agent's label begins with its participant's id and a dot, so
   * whoever has no label left is gone.
   */
  leave(client: string, remaining: ReadonlySet<string>): void;
  /** Lets what is too old go; returns when the next is due. */
  age(time: number): number;
}

export interface PresenceOptions {
  readonly surfaceId: string;
  readonly activityTtlMs: number;
  readonly participantTtlMs: number;
  readonly maxParticipants: number;
  readonly now: () => number;
  readonly onChange: () => void;
}

export function createPresence(options: PresenceOptions): Presence {
  const { surfaceId, activityTtlMs, participantTtlMs, maxParticipants, now, onChange } = options;
  /** In the order in which they were last seen. */
  const participants = new Map<string, Participant>();

  function put(id: string, change: Partial<Participant>): void {
    const known = participants.get(id) ?? { id, name: undefined, color: undefined, activity: undefined };
    participants.delete(id);
    participants.set(id, { ...known, ...change, connected: true, seenAt: now() });
    const [oldest] = participants.keys();
    if (participants.size > maxParticipants && oldest !== undefined) participants.delete(oldest);
    onChange();
  }

  /** Whose label it is: of two ids that fit, the longer one. */
  function ownerOf(client: string): string | undefined {
    const ids = [...participants.keys()].filter((id) => client === id || client.startsWith(`${id}.`));
    return ids.sort((a, b) => b.length - a.length)[0];
  }

  return {
    announce(params) {
      if (!isActivity(params) || params.surfaceId !== surfaceId) return;
      const { actor, action, target, priority, correlationId } = params;
      const activity = { action, target, priority, correlationId, at: now() };
      put(actor.id, { name: actor.name, color: actor.color, activity });
    },
    touch: (id) => put(id, {}),
    get: (id) => (id === undefined ? undefined : participants.get(id)),
    list: () => [...participants.values()],
    leave(client, remaining) {
      const owner = ownerOf(client);
      const present = new Set([...remaining].map(ownerOf));
      let left = false;
      for (const [id, participant] of participants) {
        const gone = remaining.size === 0 || (id === owner && !present.has(id));
        if (!participant.connected || !gone) continue;
        participants.set(id, { ...participant, connected: false, activity: undefined });
        left = true;
      }
      if (left) onChange();
    },
    age(time) {
      let next = Number.POSITIVE_INFINITY;
      let aged = false;
      for (const [id, participant] of participants) {
        const { activity, seenAt } = participant;
        if (seenAt + participantTtlMs <= time) {
          participants.delete(id);
          aged = true;
          continue;
        }
        next = Math.min(next, seenAt + participantTtlMs);
        if (activity === undefined) continue;
        if (activity.at + activityTtlMs > time) {
          next = Math.min(next, activity.at + activityTtlMs);
          continue;
        }
        participants.set(id, { ...participant, activity: undefined });
        aged = true;
      }
      if (aged) onChange();
      return next;
    },
  };
}
