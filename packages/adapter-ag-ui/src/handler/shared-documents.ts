import { byteLength } from "../bounded-json.ts";
import type { AgUiEvent, AgUiEventOf, AgUiJson } from "../events.ts";
import { applyPatch, readPatch } from "../json-patch.ts";
import type { ReadEvent } from "./event-fields.ts";
import type { Limits } from "./limits.ts";
import type { MessageIds } from "./message-ids.ts";

export interface SharedDocumentsParts {
  readonly limits: Limits;
  readonly ids: MessageIds;
  /** Shared state as the client has it. */
  readonly state?: unknown;
  readonly write: (event: AgUiEvent) => boolean;
  readonly onFault: (fault: string) => void;
}

/** Shared state and activities as the client has them, so that no patch goes out that does not apply there. */
export interface SharedDocuments {
  accept(event: ReadEvent): void;
}

export function createSharedDocuments({ limits, ids, state, write, onFault }: SharedDocumentsParts): SharedDocuments {
  const { maxStateBytes, maxActivityBytes, maxPatchOperations } = limits;
  const activities = new Map<string, { readonly activityType: string; readonly content: AgUiJson }>();
  let shared = (state ?? {}) as AgUiJson;
  let hasSnapshot = false;

  function stateSnapshot(snapshot: AgUiJson, event: object): void {
    if (byteLength(JSON.stringify(snapshot)) > maxStateBytes)
      onFault("STATE_SNAPSHOT exceeds maxStateBytes and is left out");
    else if (write(event as AgUiEvent)) {
      shared = snapshot;
      hasSnapshot = true;
    }
  }

  function stateDelta(event: ReadEvent): void {
    const delta = patchOf(event, "delta");
    if (delta === undefined) return;
    // What a host stored of this run has to make sense by itself.
    if (!hasSnapshot) stateSnapshot(shared, { type: "STATE_SNAPSHOT", snapshot: shared });
    const next = hasSnapshot ? patched(event, shared, delta, maxStateBytes) : undefined;
    if (next !== undefined && write({ ...event, delta } as unknown as AgUiEvent)) shared = next;
  }

  function activitySnapshot(event: ReadEvent): void {
    const snapshot = event as unknown as AgUiEventOf<"ACTIVITY_SNAPSHOT">;
    const { messageId, activityType, content, replace } = snapshot;
    if (!ids.claim(messageId, "activity")) onFault(`ACTIVITY_SNAPSHOT: ${messageId} is another message`);
    else if (!write(snapshot)) activities.delete(messageId);
    else if (replace !== false || !activities.has(messageId))
      activities.set(messageId, { activityType, content: content as unknown as AgUiJson });
  }

  function activityDelta(event: ReadEvent): void {
    const { messageId, activityType } = event as unknown as AgUiEventOf<"ACTIVITY_DELTA">;
    const known = activities.get(messageId);
    if (known?.activityType !== activityType) {
      onFault(`ACTIVITY_DELTA: there was no snapshot of ${messageId}`);
      return;
    }
    const patch = patchOf(event, "patch");
    const content = patch === undefined ? undefined : patched(event, known.content, patch, maxActivityBytes);
    if (content === undefined) return;
    if (write({ ...event, patch } as unknown as AgUiEvent)) activities.set(messageId, { activityType, content });
    else activities.delete(messageId);
  }

  function patchOf(event: ReadEvent, member: "delta" | "patch") {
    const patch = readPatch(event[member], maxPatchOperations, limits);
    if (patch === undefined) onFault(`${event.type}: the patch is none, or has too many operations`);
    return patch;
  }

  function patched(event: ReadEvent, document: AgUiJson, patch: Parameters<typeof applyPatch>[1], maxBytes: number) {
    const next = applyPatch(document, patch);
    if (next !== undefined && byteLength(JSON.stringify(next)) <= maxBytes) return next;
    onFault(`${event.type}: the patch does not apply, or makes too much of it`);
    return undefined;
  }

  return {
    accept(event) {
      switch (event.type) {
        case "STATE_SNAPSHOT":
          return stateSnapshot(event["snapshot"] as AgUiJson, event);
        case "STATE_DELTA":
          return stateDelta(event);
        case "ACTIVITY_SNAPSHOT":
          return activitySnapshot(event);
        case "ACTIVITY_DELTA":
          return activityDelta(event);
      }
    },
  };
}
