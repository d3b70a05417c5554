import { createSurface, StalePinError, type Surface, ToolError } from "@human-plus/surface";
import { type Board, type BoardTool, boardTools, type Edit, type EditKind, UNDO_TOOL } from "./board.ts";
import type { Hand, Ledger, Write } from "./ledger.ts";
import type { Network } from "./network.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { SeenCall, Witness } from "./witness.ts";
import { createWritingDesk, type Writing } from "./writing.ts";

/** One life of the page. */
export interface Page {
  readonly surface: Surface;
  /** A person does something; false if it makes no sense now. */
  personDoes(person: string, kind: EditKind, handle: string): boolean;
  /** A person takes back what they or somebody else did last. */
  personUndoes(person: string, of: string): void;
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

/** Entries of a surface's log that one write of this board makes, at most. */
const MAX_TRACES = 15;

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
  const holdsAll = () => ledger.writes.length * MAX_TRACES <= maxChanges;
  const desk = createWritingDesk({ board, ledger, story, holdsAll });
  const handOf = ({ agent }: SeenCall): Hand => ({ type: "agent", name: agent });
  /** By summary: the call that made it, and what it would do. */
  const proposed = new Map<string, { call: SeenCall; edit: Edit }>();

  /** Lets the surface decide, and holds its decision against the truth. */
  function judge(call: SeenCall, writing: Writing | undefined, act: () => void): void {
    const { edit } = writing ?? {};
    const against = witness.against(call, edit?.changes ?? [], board.containersOf);
    try {
      act();
    } catch (error) {
      if (writing?.written !== undefined) {
        story.blame("a refusal changes nothing", `${call.agent} ${edit?.words}: refused, although it had been applied`);
        ledger.forget(writing.written);
      }
      if (error instanceof StalePinError) witness.refused(call, against, error.complete);
      throw error;
    }
    if (writing === undefined) return;
    if (writing.written === undefined)
      story.blame("no acknowledged write is lost", `${call.agent} ${edit?.words}: done, although nothing was applied`);
    else witness.wrote(call, writing.written, against);
  }

  function editOf(parts: readonly (readonly [EditKind, string])[], text: string): Edit {
    const edits = parts.map(([kind, handle]) => board.edit(kind, handle, text)).filter((edit) => edit !== undefined);
    if (edits.length === 0) throw new ToolError("That makes no sense now.");
    return {
      changes: edits.flatMap(({ changes }) => changes),
      apply: () => {
        const takeBacks = edits.map(({ apply }) => apply()).reverse();
        return () => {
          for (const takeBack of takeBacks) takeBack();
        };
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
          const writing = desk.prepare(handOf(seen), edit);
          const accept = () => {
            writing.apply();
            witness.wrote(seen, writing.written as Write, accepting, true);
          };
          judge(seen, undefined, () => call.propose(edit.changes, accept, { ...writing.options, summary }));
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
          const how = { isUnpinned: seen.pin === undefined, isFinal: tool.isFinal };
          const writing = desk.prepare(handOf(seen), edit, how);
          judge(seen, writing, () => call.commit(edit.changes, writing.apply, writing.options));
        }
        return "done";
      },
    });
  }

  surface.tool({
    name: UNDO_TOOL,
    touches: [],
    handler(_args, call) {
      const seen = witness.newestCall(call.participantId ?? "") as SeenCall;
      const write = desk.undo(seen.agent, handOf(seen), () => call.undo());
      if (write === undefined) throw new ToolError("That cannot be undone.");
      witness.wrote(seen, write, []);
      return "done";
    },
  });

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
      const { apply, options } = desk.prepare({ type: "human", name: person }, edit);
      surface.commit(edit.changes, apply, { ...options, by: { type: "human", id: person, name: person } });
      story.tell(`${person} ${edit.words}`);
      return true;
    },
    personUndoes(person, of) {
      const by = { type: "human", id: person, name: person } as const;
      desk.undo(of, { type: "human", name: person }, () => surface.undo(of, { by }));
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
      if (state === "stale" && accepting.length === 0 && holdsAll())
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
