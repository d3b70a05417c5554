import type { AttachmentState } from "./attachment.ts";
import type { HumanPlusError } from "./error.ts";
import type { ProposalState } from "./gen/types.ts";

/** What arrives from a surface unasked, by name. */
export interface SurfaceEvents {
  /** The surface's tools changed; they are listed anew before the next call. */
  catalogueChanged: { readonly attachmentId: string };
  /** A person acted on the surface. */
  personActed: { readonly attachmentId: string };
  /** A running call came further. The message is the surface's text, framed as data. */
  progress: {
    readonly attachmentId: string;
    readonly tool: string;
    readonly progress: number;
    readonly total: number | undefined;
    readonly message: string | undefined;
  };
  /** How a proposal of this agent ended. The reason is a person's text, framed as data. */
  proposalEnded: {
    readonly attachmentId: string;
    readonly tool: string;
    readonly proposalId: string;
    readonly state: ProposalState;
    readonly reason: string | undefined;
  };
  /** The attachment cannot be used any more: its surface is gone, or the relay no longer accepts it. Told once. */
  attachmentEnded: { readonly attachmentId: string; readonly state: AttachmentState };
  /** An announcement could not be delivered. Nobody waits for one, so this is the only place that says so. */
  announceFailed: { readonly attachmentId: string; readonly error: HumanPlusError };
}

export type SurfaceEventName = keyof SurfaceEvents;
export type SurfaceEventListener<E extends SurfaceEventName> = (event: SurfaceEvents[E]) => void;

/** Hands events to those who asked for them. A listener that throws hurts nobody else: its error surfaces as an uncaught one. */
export class SurfaceEventEmitter {
  readonly #listeners = new Map<SurfaceEventName, Set<(event: never) => void>>();

  /** Gives back what ends the listening. */
  on<E extends SurfaceEventName>(name: E, listener: SurfaceEventListener<E>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit<E extends SurfaceEventName>(name: E, event: SurfaceEvents[E]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as SurfaceEventListener<E>)(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
