import type { JsonObject } from "@human-plus/core";
import { byteLength } from "../bounded-json.ts";
import type { AgUiEvent, AgUiJson } from "../events.ts";
import { applyPatch, readPatch } from "../json-patch.ts";
import type { ReadEvent } from "./event-fields.ts";
import type { Limits } from "./limits.ts";
import type { MessageIds } from "./message-ids.ts";

export interface SharedDocumentsParts {
  readonly limits: Limits;
  readonly ids: MessageIds;
  /** Shared state as the client has it. */
  readonly state: unknown;
  readonly write: (event: AgUiEvent) => boolean;
  readonly onFault: (fault: string) => void;
}

/** Shared state and activities as the client has them, so that no patch goes out that does not apply there. */
export class SharedDocuments {
  readonly #parts: SharedDocumentsParts;
  readonly #activities = new Map<string, { readonly activityType: string; readonly content: AgUiJson }>();
  #state: AgUiJson;
  #hasSnapshot = false;

  constructor(parts: SharedDocumentsParts) {
    this.#parts = parts;
    this.#state = (parts.state ?? {}) as AgUiJson;
  }

  accept(event: ReadEvent): void {
    switch (event.type) {
      case "STATE_SNAPSHOT":
        this.#snapshot(event["snapshot"] as AgUiJson, event);
        return;
      case "STATE_DELTA":
        this.#delta(event);
        return;
      case "ACTIVITY_SNAPSHOT":
        this.#activity(event);
        return;
      case "ACTIVITY_DELTA":
        this.#activityDelta(event);
        return;
    }
  }

  #snapshot(snapshot: AgUiJson, event: object): void {
    if (byteLength(JSON.stringify(snapshot)) > this.#parts.limits.maxStateBytes) {
      this.#parts.onFault("STATE_SNAPSHOT exceeds maxStateBytes and is left out");
      return;
    }
    if (!this.#parts.write(event as AgUiEvent)) return;
    this.#state = snapshot;
    this.#hasSnapshot = true;
  }

  #delta(event: ReadEvent): void {
    const delta = this.#readPatch(event, "delta");
    if (delta === undefined) return;
    // What a host stored of this run has to make sense by itself.
    if (!this.#hasSnapshot) this.#snapshot(this.#state, { type: "STATE_SNAPSHOT", snapshot: this.#state });
    const next = this.#hasSnapshot
      ? this.#patched(event, this.#state, delta, this.#parts.limits.maxStateBytes)
      : undefined;
    if (next !== undefined && this.#parts.write({ ...event, delta } as unknown as AgUiEvent)) this.#state = next;
  }

  #activity(event: ReadEvent): void {
    const { ids, onFault, write } = this.#parts;
    const { messageId, activityType, content, replace } = event as unknown as Extract<
      AgUiEvent,
      { type: "ACTIVITY_SNAPSHOT" }
    >;
    if (!ids.claim(messageId, "activity")) {
      onFault(`ACTIVITY_SNAPSHOT: ${messageId} is another message`);
      return;
    }
    if (!write(event as unknown as AgUiEvent)) return void this.#activities.delete(messageId);
    const kept = replace === false ? this.#activities.get(messageId) : undefined;
    this.#activities.set(messageId, kept ?? { activityType, content: content as JsonObject as AgUiJson });
  }

  #activityDelta(event: ReadEvent): void {
    const { messageId, activityType } = event as unknown as { messageId: string; activityType: string };
    const known = this.#activities.get(messageId);
    if (known === undefined || known.activityType !== activityType) {
      this.#parts.onFault(`ACTIVITY_DELTA: there was no snapshot of ${messageId}`);
      return;
    }
    const patch = this.#readPatch(event, "patch");
    if (patch === undefined) return;
    const content = this.#patched(event, known.content, patch, this.#parts.limits.maxActivityBytes);
    if (content === undefined) return;
    if (this.#parts.write({ ...event, patch } as unknown as AgUiEvent))
      this.#activities.set(messageId, { activityType, content });
    else this.#activities.delete(messageId);
  }

  #readPatch(event: ReadEvent, member: "delta" | "patch") {
    const { limits, onFault } = this.#parts;
    const patch = readPatch(event[member], limits.maxPatchOperations, limits);
    if (patch === undefined) onFault(`${event.type}: the patch is none, or has too many operations`);
    return patch;
  }

  #patched(event: ReadEvent, document: AgUiJson, patch: Parameters<typeof applyPatch>[1], maxBytes: number) {
    const next = applyPatch(document, patch);
    if (next !== undefined && byteLength(JSON.stringify(next)) <= maxBytes) return next;
    this.#parts.onFault(`${event.type}: the patch does not apply, or makes too much of it`);
    return undefined;
  }
}
