import {
  createHumanPlus,
  HumanPlusError,
  type JsonObject,
  MemoryAttachmentStore,
  type Reading,
  type SurfaceSession,
  TrustPolicy,
} from "@human-plus/core";
import { createExchangeEngine, type Invitation } from "@human-plus/core/protocol";
import { type BoardToolName, boardTools, UNDO_TOOL } from "./board.ts";
import type { Knowledge, Ledger } from "./ledger.ts";
import type { Network } from "./network.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { Witness } from "./witness.ts";

/** What an agent may decide on. */
export type Decision = readonly [tool: BoardToolName | typeof UNDO_TOOL | "read", card: string];

/** An agent: the real client over the real engine, one call at a time. */
export interface Agent {
  readonly name: string;
  readonly isBusy: boolean;
  /** Begins a call, and does not wait for it. */
  begin(...decision: Decision): void;
  /** Keeps a reading, so that it can decide on several calls at once. */
  readonly keepsReading: boolean;
  /** Begins calls of which its model decided on the later ones before it saw what the earlier ones gave. */
  beginTogether(decisions: readonly Decision[]): void;
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
  readonly ledger: Ledger;
  readonly story: Story;
  readonly keepsReading: boolean;
  readonly time: VirtualTime;
}

export function createAgent(options: AgentOptions): Agent {
  const { name, invitation, network, witness, ledger, story, time, keepsReading } = options;
  let holds: string | undefined;
  let lastRead: string | undefined;
  let sent: string | undefined;
  let session: SurfaceSession | undefined;
  let reading: Reading | undefined;
  /** What its model has been shown, and what of it comes with the next step. */
  let shown: Knowledge = { life: 0, upTo: 0, also: new Set() };
  const answers: Knowledge[] = [];
  let running: Promise<void> = Promise.resolve();
  let isBusy = false;
  let isAsking = false;
  let stop: AbortController | undefined;
  const notApplied: string[] = [];
  const { sender, receiver } = network;
  const transport = createExchangeEngine({
    sender: {
      ...sender,
      send(link, frame, options) {
        if (keepsReading) witness.sentBeside(name, frame as unknown as JsonObject, shown, isAsking);
        else witness.sent(name, frame as unknown as JsonObject, holds, lastRead);
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
    if (keepsReading) {
      reading = await session.reading();
      shown = { life: ledger.life, upTo: 0, also: new Set() };
    }
    return session;
  }

  /** The model sees what its calls gave. */
  function show(): void {
    for (const answer of answers.splice(0)) shown = ledger.join(shown, answer);
    reading?.advance();
  }

  async function run(
    operation: (session: SurfaceSession, signal: AbortSignal) => Promise<void>,
    isFeed = false,
  ): Promise<void> {
    stop = new AbortController();
    sent = undefined;
    isAsking = isFeed;
    try {
      await operation(await attached(), stop.signal);
      const marker = witness.callOf(sent ?? "")?.marker;
      if (marker !== undefined) {
        // After a refusal the feed is asked from before it, until it has answered.
        if (isFeed || lastRead === holds) lastRead = marker;
        holds = marker;
        const answer = witness.knowledgeOf(name, marker);
        if (answer !== undefined) answers.push(answer);
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

  async function call([tool, card]: Decision): Promise<void> {
    await run(async (session, signal) => {
      const { isError } = await session.call(tool, { card, text: name }, { signal, reading });
      const call = witness.callOf(sent ?? "");
      if (!isError && call !== undefined && call.writes.length < call.commits)
        story.blame(
          "no acknowledged write is lost",
          `${name} ${call.words}: done, although it wrote ${call.writes.length} of ${call.commits} times`,
        );
    });
  }

  /** One step of the model: all of it, before anything else begins. */
  function begin(work: () => Promise<void>): void {
    isBusy = true;
    running = work()
      .then(show)
      .finally(() => {
        isBusy = false;
      });
  }

  async function together(decisions: readonly Decision[]): Promise<void> {
    for (const decision of decisions) await call(decision);
  }

  return {
    name,
    keepsReading,
    get isBusy() {
      return isBusy;
    },
    begin(...decision) {
      begin(() => call(decision));
    },
    beginTogether(decisions) {
      begin(() => together(decisions));
    },
    ask() {
      begin(() =>
        run(async (session, signal) => {
          const { report } = await session.turn({ signal });
          if (keepsReading) reading = await session.reading();
          const missed = witness.callOf(sent ?? "")?.missed ?? [];
          if (report.nothingChanged && missed.length > 0)
            story.blame(
              '"nothing changed" is true',
              `${name} is told that nothing changed, although ${missed.map(({ words }) => words).join(", and ")}, which it has not read`,
            );
        }, true),
      );
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
