import {
  createHumanPlus,
  HumanPlusError,
  type JsonObject,
  MemoryAttachmentStore,
  type SurfaceSession,
  TrustPolicy,
} from "@human-plus/core";
import { createExchangeEngine, type Invitation } from "@human-plus/core/protocol";
import { type BoardToolName, boardTools, UNDO_TOOL } from "./board.ts";
import type { Network } from "./network.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { Witness } from "./witness.ts";

/** An agent: the real client over the real engine, one call at a time. */
export interface Agent {
  readonly name: string;
  readonly isBusy: boolean;
  /** Begins a call, and does not wait for it. */
  begin(tool: BoardToolName | typeof UNDO_TOOL | "read", card: string): void;
  /** Begins a turn, which asks the feed. */
  ask(): void;
  cancel(): void;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
  /** What it was told did not happen has not happened. */
  assertHonest(): void;
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly name: string;
  readonly invitation: Invitation;
  readonly network: Network;
  readonly witness: Witness;
  readonly story: Story;
  readonly time: VirtualTime;
}

export function createAgent({ name, invitation, network, witness, story, time }: AgentOptions): Agent {
  let holds: string | undefined;
  let lastRead: string | undefined;
  let sent: string | undefined;
  let session: SurfaceSession | undefined;
  let running: Promise<void> = Promise.resolve();
  let stop: AbortController | undefined;
  const notApplied: string[] = [];
  const { sender, receiver } = network;
  const transport = createExchangeEngine({
    sender: {
      ...sender,
      send(link, frame, options) {
        witness.sent(name, frame as unknown as JsonObject, holds, lastRead);
        if ("id" in frame && frame.method === "tools/call") sent = String(frame.id);
        return sender.send(link, frame, options);
      },
    },
    receiver,
    now: time.now,
    random: () => 0.5,
  });
  const store = new MemoryAttachmentStore({ now: time.now });
  const client = createHumanPlus({ transport, store, now: time.now });

  async function attached(): Promise<SurfaceSession> {
    if (session !== undefined && (await session.status()).state === "attached") return session;
    holds = undefined;
    lastRead = undefined;
    session = await client.attach({
      owner: name,
      id: name,
      invitation,
      participant: { id: name, name },
      trust: TrustPolicy.allowing(["read", "changes_since", UNDO_TOOL, ...Object.keys(boardTools)]),
    });
    return session;
  }

  async function run(
    operation: (session: SurfaceSession, signal: AbortSignal) => Promise<void>,
    isFeed = false,
  ): Promise<void> {
    stop = new AbortController();
    sent = undefined;
    try {
      await operation(await attached(), stop.signal);
      const marker = witness.callOf(sent ?? "")?.marker;
      if (marker !== undefined) {
        // After a refusal the feed is asked from before it, until it has answered.
        if (isFeed || lastRead === holds) lastRead = marker;
        holds = marker;
      }
    } catch (error) {
      if (!(error instanceof HumanPlusError)) throw error;
      if (error.code === "surface_changed_under_you") holds = undefined;
      else story.tell(`${name} is told: ${error.code}, ${error.outcome}`);
      if (error.outcome === "not_applied" && sent !== undefined) notApplied.push(sent);
    } finally {
      stop = undefined;
    }
  }

  return {
    name,
    get isBusy() {
      return stop !== undefined;
    },
    begin(tool, card) {
      running = run(async (session, signal) => {
        const { isError } = await session.call(tool, { card, text: name }, { signal });
        const call = witness.callOf(sent ?? "");
        if (!isError && call !== undefined && call.writes.length < call.commits)
          story.blame(
            "no acknowledged write is lost",
            `${name} ${call.words}: done, although it wrote ${call.writes.length} of ${call.commits} times`,
          );
      });
    },
    ask() {
      running = run(async (session, signal) => {
        const { report } = await session.turn({ signal });
        const missed = witness.callOf(sent ?? "")?.missed ?? [];
        if (report.nothingChanged && missed.length > 0)
          story.blame(
            '"nothing changed" is true',
            `${name} is told that nothing changed, although ${missed.map(({ words }) => words).join(", and ")}, which it has not read`,
          );
      }, true);
    },
    cancel: () => stop?.abort(),
    idle: () => running,
    assertHonest() {
      for (const id of notApplied) {
        const call = witness.callOf(id);
        if (call !== undefined && call.writes.length > 0)
          story.blame(
            "what is said not to have been applied was not",
            `${name} ${call.words}: it is told that nothing was written, although it was`,
          );
      }
    },
    close: () => client.close(),
  };
}
