import { type AgUiEvent, type AgUiJson, agUiNames } from "../events.ts";
import { activityPatch } from "./activity-patch.ts";
import type { SurfaceEntry } from "./entry.ts";
import { asJson, type SurfaceActivity } from "./surface-log.ts";

/**
 * What one stream of one thread is told of the surface. Its events are legal after `RUN_STARTED` and before the terminal
 * event; `CUSTOM` and `STATE_*` only where no chunk of a message is open, so in an expanded stream.
 */
export interface SurfaceStream extends Disposable {
  /** What is due: a snapshot first, patches after it. Empty if nothing happened. Times between calls are the caller's. */
  take(): AgUiEvent[];
  /** Tells of an event of somebody else in the same stream, since snapshots of messages and state may have wiped ours. */
  saw(event: { readonly type: string }): void;
  /** Ends it. Nothing is called back after that. */
  close(): void;
}

export interface StreamParts {
  readonly messageId: string;
  readonly activityType: string;
  readonly activity: boolean;
  readonly custom: boolean;
  /** The member of shared state, if state is wanted. */
  readonly stateKey: string | undefined;
  /** Shared state as the stream begins. */
  readonly state: unknown;
  readonly maxCustom: number;
  readonly now: () => number;
  readonly content: () => SurfaceActivity;
  readonly isEmpty: () => boolean;
  readonly onClose: () => void;
}

export class ProjectedStream implements SurfaceStream {
  readonly #parts: StreamParts;
  readonly #custom: SurfaceEntry[] = [];
  #unseen = 0;
  #dirty = true;
  #closed = false;
  /** What the peer has, and nothing before the first snapshot. */
  #shown: SurfaceActivity | undefined;
  #inState: SurfaceActivity | undefined;
  /** The state that the peer has without ours; `undefined` where ours can have no place. */
  #state: Readonly<Record<string, AgUiJson>> | undefined;
  #stateBegun = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#state = asMembers(parts.state ?? {});
  }

  /** Something happened. */
  add(entry: SurfaceEntry): void {
    this.#dirty = true;
    const { custom, maxCustom } = this.#parts;
    if (!custom) return;
    if (this.#custom.length < maxCustom) this.#custom.push(entry);
    else this.#unseen++;
  }

  take(): AgUiEvent[] {
    const { isEmpty, content, stateKey } = this.#parts;
    // Ours has to be in shared state before others patch it, so it does not wait for something to happen.
    const beginsState = stateKey !== undefined && !this.#stateBegun;
    if (this.#closed || !this.#dirty || (isEmpty() && !beginsState)) return [];
    this.#dirty = false;
    const now = content();
    const timestamp = Math.trunc(this.#parts.now());
    const events = [...this.#activityEvents(now), ...this.#customEvents(), ...this.#stateEvents(now)];
    return events.map((event) => ({ ...event, timestamp }));
  }

  saw(event: { readonly type: string }): void {
    const { type, snapshot, delta, messages } = event as { type: string; [member: string]: unknown };
    if (type === "STATE_SNAPSHOT") this.#lostState(asMembers(snapshot));
    if (type === "STATE_DELTA") {
      if (!this.#stateBegun) this.#state = undefined;
      else if (touches(delta, this.#parts.stateKey)) this.#lostState(this.#state);
    }
    if (type !== "MESSAGES_SNAPSHOT" || !Array.isArray(messages)) return;
    // A snapshot that holds any activity stands for all of them.
    if (!messages.some((message: { role?: unknown } | null) => message?.role === "activity")) return;
    this.#shown = undefined;
    this.#dirty = true;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.onClose();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #lostState(state: Readonly<Record<string, AgUiJson>> | undefined): void {
    this.#state = state;
    this.#inState = undefined;
    if (this.#stateBegun) this.#dirty = true;
  }

  #activityEvents(now: SurfaceActivity): AgUiEvent[] {
    const { activity, messageId, activityType } = this.#parts;
    if (!activity || this.#parts.isEmpty()) return [];
    const shown = this.#shown;
    this.#shown = now;
    const content = asJson(now);
    if (shown !== undefined) {
      const patch = activityPatch(shown, now);
      if (patch.length === 0) return [];
      if (JSON.stringify(patch).length < JSON.stringify(content).length)
        return [{ type: "ACTIVITY_DELTA", messageId, activityType, patch }];
    }
    return [{ type: "ACTIVITY_SNAPSHOT", messageId, activityType, content, replace: true }];
  }

  #customEvents(): AgUiEvent[] {
    const events = this.#custom.map((entry): AgUiEvent => {
      const { type, ...value } = entry;
      return { type: "CUSTOM", name: `${agUiNames.type}${type}`, value };
    });
    if (this.#unseen > 0)
      events.push({ type: "CUSTOM", name: `${agUiNames.type}dropped`, value: { count: this.#unseen } });
    this.#custom.length = 0;
    this.#unseen = 0;
    return events;
  }

  /** One snapshot that leaves what others keep there; then patches, and the whole of ours where somebody's snapshot wiped it. */
  #stateEvents(now: SurfaceActivity): AgUiEvent[] {
    const { stateKey } = this.#parts;
    const state = this.#state;
    if (stateKey === undefined || state === undefined) return [];
    const before = this.#inState;
    this.#inState = now;
    if (!this.#stateBegun) {
      this.#stateBegun = true;
      return [{ type: "STATE_SNAPSHOT", snapshot: { ...state, [stateKey]: asJson(now) } }];
    }
    const delta =
      before === undefined
        ? [{ op: "add" as const, path: `/${stateKey}`, value: asJson(now) }]
        : activityPatch(before, now, `/${stateKey}`);
    return delta.length === 0 ? [] : [{ type: "STATE_DELTA", delta }];
  }
}

/** Whether a patch may change what is under a key. */
function touches(delta: unknown, key: string | undefined): boolean {
  if (!Array.isArray(delta) || key === undefined) return false;
  const at = (pointer: unknown) => pointer === "" || pointer === `/${key}` || String(pointer).startsWith(`/${key}/`);
  return delta.some(
    (operation: { path?: unknown; from?: unknown } | null) => at(operation?.path) || at(operation?.from),
  );
}

function asMembers(value: unknown): Readonly<Record<string, AgUiJson>> | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, AgUiJson>) : undefined;
}
