import type { AttachmentRow } from "./attachment.ts";
import { limits } from "./gen/constants.ts";
import type { Implementation } from "./gen/types.ts";
import { type LinkName, type LinkState, linkIdOf } from "./link-state.ts";
import { McpSession } from "./mcp-session.ts";
import type { RelayLink, RelayTransport } from "./transport.ts";

export interface LinkStatesOptions {
  transport: RelayTransport;
  clientInfo: Implementation;
  now: () => number;
  randomId: () => string;
}

/** What this process knows of attachments: made when one is first used, dropped when it is of no more use. */
export class LinkStates {
  readonly #options: LinkStatesOptions;
  readonly #states = new Map<string, LinkState>();
  #sweepAt = 64;

  constructor(options: LinkStatesOptions) {
    this.#options = options;
  }

  of(row: AttachmentRow): LinkState {
    const { transport, clientInfo, now, randomId } = this.#options;
    const id = linkIdOf(row);
    const known = this.#states.get(id);
    if (known !== undefined) {
      known.lastUsed = now();
      return known;
    }
    this.#sweep();
    const { invitation, client } = row;
    const link: RelayLink = { id, invitation, client };
    const state: LinkState = {
      attachmentId: row.id,
      attachKey: row.attachKey,
      source: `${invitation.application}/${invitation.surfaceId}`,
      session: new McpSession({ transport, link, clientInfo, requestId: randomId }),
      running: new Map(),
      proposals: new Map(),
      protection: undefined,
      catalogue: undefined,
      toolChanges: 0,
      lastUsed: now(),
    };
    this.#states.set(id, state);
    return state;
  }

  /** What is known of a link of the transport. */
  get({ id }: Pick<RelayLink, "id">): LinkState | undefined {
    return this.#states.get(id);
  }

  /** Drops what is known of one generation, and lets nothing of it leave any more; gives whether anything was known. */
  forget(name: LinkName): boolean {
    const id = linkIdOf(name);
    this.#states.get(id)?.session.end();
    return this.#states.delete(id);
  }

  clear(): void {
    this.#states.clear();
  }

  /** Forgets attachments that nobody has used for as long as a store keeps them. Runs rarely, so that it costs nothing per call. */
  #sweep(): void {
    if (this.#states.size < this.#sweepAt) return;
    const oldest = this.#options.now() - limits.attachmentTtlMs;
    for (const [id, { running, lastUsed }] of this.#states)
      if (running.size === 0 && lastUsed < oldest) this.#states.delete(id);
    this.#sweepAt = Math.max(64, this.#states.size * 2);
  }
}
