import { createSurface, StalePinError, type Surface, ToolError } from "@human-plus/surface";
import { type Board, type BoardTool, boardTools, type Edit, type EditKind } from "./board.ts";
import type { Hand, Ledger, Write } from "./ledger.ts";
import type { Network } from "./network.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { SeenCall, Witness } from "./witness.ts";

/** One life of the page. */
export interface Page {
  readonly surface: Surface;
  /** A person does something; false if it makes no sense now. */
  personDoes(person: string, kind: EditKind, handle: string): boolean;
  /** A person decides the oldest proposal; false if there is none. */
  personDecides(person: string, accepts: boolean): boolean;
  /** Asks the feed, over a way of its own, for everything that is still known. */
  assertFeed(asker: string): Promise<void>;
  /** It goes away, as a closed tab does. */
  kill(): void;
}

export interface PageOptions {
  readonly board: Board;
  readonly ledger: Ledger;
  readonly witness: Witness;
  readonly story: Story;
  readonly network: Network;
  readonly time: VirtualTime;
  readonly step: (label: string) => Promise<void>;
  readonly maxChanges: number;
}

export function openPage({ board, ledger, witness, story, network, time, step, maxChanges }: PageOptions): Page {
  let isAlive = true;
  const surface = createSurface({
    id: "board",
    application: "board",
    parentOf: board.parentOf,
    maxChanges,
    now: time.now,
    activityIntervalMs: 1_000_000_000,
    onError(error) {
      throw error;
    },
  });
  /** By summary: the call that made it, and what it would do. */
  const proposed = new Map<string, { call: SeenCall; edit: Edit }>();

  function apply(hand: Hand, edit: Edit, isUnpinned: boolean): Write {
    const around = new Map(edit.changes.map(({ handle }) => [handle, board.containersOf(handle)]));
    const words = `${hand.name} ${edit.words}`;
    const write = ledger.begin({ hand, changes: edit.changes, around, isUnpinned, words });
    edit.apply();
    for (const [handle, before] of around) for (const container of board.containersOf(handle)) before.add(container);
    return write;
  }

  /** Lets the surface decide, and holds its decision against the truth. */
  function judge(call: SeenCall, edit: Edit | undefined, act: (run: () => void) => void): void {
    const against = witness.against(call, edit?.changes ?? [], board.containersOf);
    let write: Write | undefined;
    try {
      act(() => {
        if (edit !== undefined) write = apply({ type: "agent", name: call.agent }, edit, call.pin === undefined);
      });
    } catch (error) {
      if (write !== undefined) {
        story.blame("a refusal changes nothing", `${call.agent} ${edit?.words}: refused, although it had been applied`);
        ledger.takeBack(write);
      }
      if (error instanceof StalePinError) witness.refused(call, against, error.complete);
      throw error;
    }
    if (edit === undefined) return;
    if (write === undefined)
      story.blame("no acknowledged write is lost", `${call.agent} ${edit.words}: done, although nothing was applied`);
    else witness.wrote(call, write, against);
  }

  function editOf(parts: readonly (readonly [EditKind, string])[], text: string): Edit {
    const edits = parts.map(([kind, handle]) => board.edit(kind, handle, text)).filter((edit) => edit !== undefined);
    if (edits.length === 0) throw new ToolError("That makes no sense now.");
    return {
      changes: edits.flatMap(({ changes }) => changes),
      apply: () => {
        for (const edit of edits) edit.apply();
      },
      words: edits.map(({ words }) => words).join(" and "),
    };
  }

  /** A handler waits for something else; a page that is gone never goes on. */
  async function wait(agent: string): Promise<void> {
    await step(`${agent} thinks`);
    if (!isAlive) await new Promise(() => {});
  }

  surface.tool({ name: "read", touches: "none", handler: () => ({ structuredContent: { items: board.items.size } }) });
  for (const [name, tool] of Object.entries(boardTools) as [string, BoardTool][]) {
    const touches = ({ card }: { card: string }) => tool.touches(card);
    if (tool.stage) {
      surface.tool<{ card: string; text: string }>({
        name,
        touches,
        stage: true,
        handler({ card, text }, call) {
          const seen = witness.newestCall(call.participantId ?? "") as SeenCall;
          const edit = editOf(tool.edits(card), text);
          const summary = `${edit.words}, proposal ${proposed.size + 1}`;
          judge(seen, undefined, () =>
            call.propose(
              edit.changes,
              () => {
                const write = apply({ type: "agent", name: seen.agent }, edit, false);
                witness.wrote(seen, write, accepting, true);
              },
              { summary },
            ),
          );
          proposed.set(summary, { call: seen, edit });
          return undefined;
        },
      });
      continue;
    }
    surface.tool<{ card: string; text: string }>({
      name,
      touches,
      async handler({ card, text }, call) {
        const seen = witness.newestCall(call.participantId ?? "") as SeenCall;
        const edits = tool.edits(card);
        for (const parts of tool.together ? [edits] : edits.map((edit) => [edit])) {
          if (tool.waits) {
            story.tell(`${seen.agent} begins: ${seen.words}`);
            judge(seen, undefined, () => call.assertFresh());
            await wait(seen.agent);
          }
          const edit = editOf(parts, text);
          judge(seen, edit, (run) => call.commit(edit.changes, run));
        }
        return "done";
      },
    });
  }

  /** What stands against the proposal that is being accepted. */
  let accepting: readonly Write[] = [];
  const link = network.attachPage((text) => {
    if (!isAlive) return;
    witness.arrived(text);
    channel.receive(text);
  });
  const channel = surface.open((text) => {
    if (!isAlive) return;
    witness.answered(text);
    link.send(text);
  });

  return {
    surface,
    personDoes(person, kind, handle) {
      const edit = board.edit(kind, handle, person);
      if (edit === undefined) return false;
      const hand: Hand = { type: "human", name: person };
      const words = `${person} ${edit.words}`;
      surface.commit(edit.changes, () => void apply(hand, edit, false), {
        by: { type: "human", id: person, name: person },
      });
      story.tell(words);
      return true;
    },
    personDecides(person, accepts) {
      const [pending] = surface.getSnapshot().proposals;
      if (pending === undefined) return false;
      const { proposal } = pending;
      const known = proposed.get(proposal.summary);
      const words = `the proposal of ${proposal.participantId} (${proposal.summary})`;
      if (!accepts || known === undefined) {
        story.tell(`${person} rejects ${words}: ${pending.reject("no")}`);
        return true;
      }
      accepting = witness.against(known.call, proposal.changes, board.containersOf, true);
      const before = ledger.writes.length;
      const state = pending.accept();
      story.tell(`${person} accepts ${words}: ${state}`);
      const written = ledger.writes.length - before;
      if (state === "accepted" && written !== 1)
        story.blame("no acknowledged write is lost", `${words} was accepted, and written ${written} times`);
      if (state !== "accepted" && written !== 0)
        story.blame("a refusal changes nothing", `${words} is ${state}, although it was written`);
      if (state === "stale" && accepting.length === 0 && ledger.writes.length * 15 <= maxChanges)
        story.blame("a change elsewhere never refuses", `${words} is stale, although nothing that it touches changed`);
      return true;
    },
    async assertFeed(asker) {
      const expected = ledger.writes.filter(({ life }) => life === ledger.life);
      const answer = await new Promise<string>((resolve) => {
        const way = surface.open(resolve);
        const params = { name: "changes_since", arguments: {}, _meta: { "human-plus/participant": { id: asker } } };
        way.receive(JSON.stringify({ jsonrpc: "2.0", id: `${asker} at the end`, method: "tools/call", params }));
        way.close();
      });
      witness.assertFeed(asker, JSON.parse(answer).result, expected);
    },
    kill() {
      isAlive = false;
      link.kill();
      channel.close();
      surface.close();
    },
  };
}
