import { type ChangeRow, type JsonObject, methods, parseChangeFeed } from "@human-plus/core/protocol";
import type { Change } from "@human-plus/surface";
import type { Declared, Knowledge, Ledger, Write } from "./ledger.ts";
import { listOf, type Story } from "./story.ts";

/** A call as the page sees it. */
export interface SeenCall {
  readonly agent: string;
  readonly tool: string;
  /** "writes Budget". */
  readonly words: string;
  readonly pin: string | undefined;
  /** What its caller has read, or `undefined` without a pin: then nothing stands against it. */
  readonly knowledge: Knowledge | undefined;
  /** What had happened when it came. */
  readonly start: Knowledge;
  readonly declared: Declared;
  /** How often it writes if nothing stands against it. */
  readonly commits: number;
  readonly writes: Write[];
  /** What its model had been shown when it decided on the call; nothing where no reading was kept. */
  readonly decidedWith: Knowledge | undefined;
  /** What stands against its next write, and its model had not been shown. */
  unseen: readonly Write[];
  answer: "pending" | "accepted" | "failed" | "refused";
  /** The marker of the answer. */
  marker: string | undefined;
  /** For a question to the feed: what the asker had not read, nor done. */
  missed: readonly Write[];
}

/** Stands on the wire, knows the truth, and says which promise was broken. */
export interface Witness {
  /** What the page did with one call. */
  callOf(id: string): SeenCall | undefined;
  /** The newest call of an agent at the page. */
  newestCall(agent: string): SeenCall | undefined;
  /** An agent sends a frame; `holds` is the marker that it must be pinned to, `lastRead` what it must ask from. */
  sent(agent: string, frame: JsonObject, holds: string | undefined, lastRead: string | undefined): void;
  /** An agent that decides on several calls at once sends a frame; `shown` is what its model has been shown. */
  sentBeside(agent: string, frame: JsonObject, shown: Knowledge, isTurn: boolean): void;
  /** What whoever got this marker has read. */
  knowledgeOf(agent: string, marker: string): Knowledge | undefined;
  /** The page takes a frame. */
  arrived(text: string): void;
  /** The page gives a frame. */
  answered(text: string): void;
  /** A call is about to write: what stands against it, and its commit. */
  against(
    call: SeenCall,
    changes: readonly Change[],
    containersOf: (handle: string) => Set<string>,
    isProposal?: boolean,
  ): Write[];
  /** It was written. */
  wrote(call: SeenCall, write: Write, against: readonly Write[], isProposal?: boolean): void;
  /** The surface refused a write. */
  refused(call: SeenCall, against: readonly Write[], isComplete: boolean): void;
  /** A reading of everything that the surface still knows: each write once, by the right hand. */
  assertFeed(asker: string, result: JsonObject, expected: readonly Write[]): void;
}

export interface WitnessOptions {
  readonly ledger: Ledger;
  readonly story: Story;
  /** How many changes the surface's log keeps. */
  readonly maxChanges: number;
  readonly describe: (tool: string, args: JsonObject) => Pick<SeenCall, "words" | "declared" | "commits">;
}

/** Entries of a surface's log that one change of this board makes, at most. */
const MAX_TRACES = 5;

type Params = {
  name: string;
  arguments?: JsonObject;
  _meta?: { revision?: string; "human-plus/participant"?: { id: string } };
};

export function createWitness({ ledger, story, maxChanges, describe }: WitnessOptions): Witness {
  const calls = new Map<string, SeenCall>();
  const newest = new Map<string, SeenCall>();
  /** By call. */
  const decided = new Map<string, Knowledge>();
  /** By agent and marker: what whoever holds it has read. */
  const knowledge = new Map<string, Knowledge>();
  const keyOf = (agent: string, marker: string) => `${agent} ${marker}`;
  const done = (writes: readonly Write[]) => listOf(writes.map(({ words }) => words));
  const pinned = ({ agent, pin }: SeenCall) =>
    pin === undefined ? `${agent}, without a pin,` : `${agent}, pinned to ${story.nameOf(pin)},`;

  function ownAnswered(agent: string): number[] {
    const own: number[] = [];
    for (const call of calls.values())
      if (call.agent === agent && call.answer !== "pending") own.push(...call.writes.map(({ seq }) => seq));
    return own;
  }

  const holdsAll = () => ledger.writes.reduce((sum, { changes }) => sum + changes.length, 0) * MAX_TRACES <= maxChanges;

  function extend({ life, upTo, also }: Knowledge, more: readonly number[]): Knowledge {
    return { life, upTo, also: new Set([...also, ...more]) };
  }

  function nothing(): Knowledge {
    return { life: ledger.life, upTo: 0, also: new Set() };
  }

  function learn(call: SeenCall, marker: string, isError: boolean): void {
    const { agent, tool } = call;
    call.marker = marker;
    let read = call.pin === undefined ? call.start : (call.knowledge ?? nothing());
    if (tool === "read" && !isError) read = call.start;
    const own = [...call.writes.map(({ seq }) => seq), ...ownAnswered(agent)];
    if (read.life === ledger.life) knowledge.set(keyOf(agent, marker), extend(read, own));
  }

  /** Own writes were decided on by the same model. */
  function unseenBy(
    { agent, pin, decidedWith, declared }: SeenCall,
    changes: readonly Change[],
    containersOf: (handle: string) => Set<string>,
  ): Write[] {
    if (pin === undefined || decidedWith?.life !== ledger.life) return [];
    // A model that has read nothing writes blindly; what comes beside its first call is pinned to what that one gave.
    if (decidedWith.upTo === 0 && decidedWith.also.size === 0) return [];
    const own = ledger.writes.filter(({ hand }) => hand.name === agent).map(({ seq }) => seq);
    const against = ledger.against(extend(decidedWith, own), agent, declared, changes, containersOf);
    return against.filter(({ hand }) => hand.name !== agent);
  }

  function readFeed(call: SeenCall, result: JsonObject): void {
    const expected =
      call.knowledge === undefined || call.knowledge.life !== ledger.life
        ? ledger.unknownTo(nothing())
        : ledger.unknownTo(call.knowledge);
    call.missed = expected.filter(({ hand }) => hand.name !== call.agent);
    const rows = readRows(result);
    const marker = markerOf(result);
    const isForeign = call.pin !== undefined && call.knowledge?.life !== ledger.life;
    const told = rows.changes.map(({ handle, kind, actor }) => `${handle} ${kind} ${actor}`);
    story.tell(
      `${call.agent} asks what changed since ${story.nameOf(call.pin)}: ${listOf(told)}${rows.complete ? "" : " (not complete)"}; it gets ${story.nameOf(marker)}`,
    );
    if (isForeign && rows.complete)
      story.blame(
        "a marker of an earlier life of the page is never equal",
        `${call.agent} is told that this is complete, although its marker is of an earlier life of the page`,
      );
    compare(call.agent, rows, expected, isForeign);
    if (marker !== undefined) knowledge.set(keyOf(call.agent, marker), extend(ledger.everything(), []));
    call.marker = marker;
  }

  function compare(
    asker: string,
    { changes, complete }: { changes: readonly ChangeRow[]; complete: boolean },
    expected: readonly Write[],
    mayBeIncomplete: boolean,
  ): void {
    const truth = expected.flatMap((write) =>
      write.changes.map(({ handle, kind }) => ({ write, handle, kind, actor: actorFor(asker, write) })),
    );
    const told = truth.slice(truth.length - changes.length);
    if (complete && changes.length < truth.length) {
      const lost = truth.find(({ handle, kind }) => !changes.some((row) => row.handle === handle && row.kind === kind));
      const what = lost ?? truth.find((row, index) => changes[index]?.handle !== row.handle) ?? truth[0];
      story.blame(
        "every write is in the feed",
        `${asker} is told that this is all that changed, although ${what?.write.words}${what?.kind === "deleted" ? ": a deletion is missing" : " is missing from it"}`,
      );
    }
    if (!complete && !mayBeIncomplete && holdsAll())
      story.blame(
        "the feed is complete while the log reaches back",
        `${asker} is told that the feed is not complete, although the log holds everything`,
      );
    if (changes.length > truth.length)
      story.blame(
        "every write is in the feed once",
        `${asker} is told of ${changes.length} changes, although there were ${truth.length}`,
      );
    changes.forEach((row, index) => {
      const real = told[index];
      if (real === undefined) return;
      if (row.handle !== real.handle || row.kind !== real.kind)
        story.blame(
          "every write is in the feed once",
          `${asker} is told "${row.handle} ${row.kind}", although it was this: ${real.write.words}`,
        );
      else if (row.actor !== real.actor)
        story.blame(
          "every write in the feed has the right hand",
          `${asker} is told that "${row.handle} ${row.kind}" was by the hand "${row.actor}", although it is "${real.actor}" to it: ${real.write.words}`,
        );
    });
  }

  return {
    callOf: (id) => calls.get(id),
    newestCall: (agent) => newest.get(agent),
    sent(agent, frame, holds, lastRead) {
      if (frame["method"] !== methods.callTool) return;
      const { name, arguments: args = {}, _meta: { revision } = {} } = frame["params"] as unknown as Params;
      if (revision !== holds) {
        const was = holds === undefined ? "it was refused" : `it has read ${story.nameOf(holds)}`;
        const does = revision === undefined ? "without a pin" : `pinned to ${story.nameOf(revision)}`;
        story.blame(
          "every call is pinned to what was last read, and never to a marker that was refused",
          `${agent} calls ${name} ${does}, although ${was}`,
        );
      }
      if (name === "changes_since" && args["since"] !== lastRead)
        story.blame(
          "the feed is asked from what was last read",
          `${agent} asks since ${story.nameOf(args["since"] as string)}, although it last read ${story.nameOf(lastRead)}`,
        );
    },
    sentBeside(agent, frame, shown, isTurn) {
      if (frame["method"] !== methods.callTool) return;
      const { name, arguments: args = {} } = frame["params"] as unknown as Params;
      decided.set(String(frame["id"]), shown);
      if (name !== "changes_since" || args["since"] === undefined || !isTurn) return;
      const since = knowledge.get(keyOf(agent, args["since"] as string));
      const skipped = ledger
        .unknownTo(shown)
        .filter((write) => write.hand.name !== agent && since !== undefined && ledger.knows(since, write));
      if (skipped.length > 0)
        story.blame(
          "the feed is asked from what was last read",
          `${agent} asks since ${story.nameOf(args["since"] as string)}, although its model was never shown that ${done(skipped)}`,
        );
    },
    knowledgeOf: (agent, marker) => knowledge.get(keyOf(agent, marker)),
    arrived(text) {
      const { id, method, params } = JSON.parse(text) as { id?: string; method?: string; params?: Params };
      if (method !== methods.callTool || id === undefined || params === undefined || calls.has(id)) return;
      const agent = params._meta?.["human-plus/participant"]?.id ?? "";
      const args = params.arguments ?? {};
      const isFeed = params.name === "changes_since";
      const pin = isFeed ? (args["since"] as string | undefined) : params._meta?.revision;
      const call: SeenCall = {
        agent,
        tool: params.name,
        ...describe(params.name, args),
        pin,
        knowledge: pin === undefined ? undefined : (knowledge.get(keyOf(agent, pin)) ?? { ...nothing(), life: -1 }),
        start: ledger.everything(),
        writes: [],
        decidedWith: decided.get(id),
        unseen: [],
        answer: "pending",
        marker: undefined,
        missed: [],
      };
      calls.set(id, call);
      newest.set(agent, call);
    },
    answered(text) {
      const { id, result, error } = JSON.parse(text) as {
        id?: string;
        result?: JsonObject;
        error?: {
          message: string;
          data?: { code?: string; complete?: boolean; changes?: { handle: string; kind: string }[] };
        };
      };
      const call = id === undefined ? undefined : calls.get(id);
      if (call === undefined || call.answer !== "pending") return;
      if (result !== undefined && call.tool === "changes_since") {
        call.answer = "accepted";
        readFeed(call, result);
        return;
      }
      if (result === undefined) {
        const rows = error?.data?.changes?.map(({ handle, kind }) => `${handle} ${kind}`) ?? [];
        const isStale = error?.data?.code !== undefined;
        call.answer = isStale ? "refused" : "failed";
        story.tell(`${pinned(call)} ${call.words}: ${isStale ? `refused (${listOf(rows)})` : error?.message}`);
        if (call.writes.length > 0)
          story.blame(
            "a refusal changes nothing",
            `${call.agent} is told that nothing was written, although ${done(call.writes)}`,
          );
        return;
      }
      const isError = result["isError"] === true;
      const marker = markerOf(result);
      if (marker !== undefined) learn(call, marker, isError);
      call.answer = isError ? "failed" : "accepted";
      story.tell(`${pinned(call)} ${call.words}: ${isError ? "failed" : "done"}; it gets ${story.nameOf(marker)}`);
    },
    against(call, changes, containersOf, isProposal = false) {
      call.unseen = unseenBy(call, changes, containersOf);
      // Without a pin nothing stands against a call; its proposal is held against the moment of the call.
      const known = call.knowledge ?? (isProposal ? call.start : undefined);
      if (known === undefined) return [];
      const more = call.writes.map(({ seq }) => seq);
      if (known.life !== ledger.life) return ledger.unknownTo(extend(nothing(), more));
      return ledger.against(extend(known, more), call.agent, call.declared, changes, containersOf);
    },
    wrote(call, write, against, isProposal = false) {
      if (!isProposal) call.writes.push(write);
      if (call.writes.length > Math.max(1, call.commits))
        story.blame(
          "an acknowledged write is written once",
          `${call.agent} ${call.words}: written ${call.writes.length} times`,
        );
      const others = against.filter(({ hand }) => hand.name !== call.agent);
      if (call.pin !== undefined && call.knowledge?.life !== ledger.life)
        story.blame(
          "a marker of an earlier life of the page is never equal",
          `${pinned(call)} ${call.words}: accepted, although the page was reloaded after ${story.nameOf(call.pin)}`,
        );
      if (others.length > 0)
        story.blame(
          "nobody's edit is overwritten by a call that was pinned before it",
          `${pinned(call)} ${call.words}: accepted, although ${done(others)}, which ${call.agent} has not read`,
        );
      if (!isProposal && call.unseen.length > 0)
        story.blame(
          "nobody's edit is overwritten by a call that was decided on before it",
          `${pinned(call)} ${call.words}: accepted, although ${done(call.unseen)}, which its model had not been shown when it decided`,
        );
    },
    refused(call, against, isComplete) {
      if (call.knowledge === undefined)
        story.blame("a call without a pin is not refused", `${pinned(call)} ${call.words}: refused`);
      else if (call.knowledge.life === ledger.life && isComplete && against.length === 0)
        story.blame(
          "a change elsewhere never refuses",
          `${pinned(call)} ${call.words}: refused, although nothing that it touches changed`,
        );
      else if (call.knowledge.life === ledger.life && !isComplete && holdsAll())
        story.blame(
          "a change elsewhere never refuses",
          `${pinned(call)} ${call.words}: refused as if the log did not reach back, although it holds everything`,
        );
    },
    assertFeed(asker, result, expected) {
      compare(asker, readRows(result), expected, false);
    },
  };
}

function actorFor(asker: string, { hand }: Write): string {
  if (hand.type === "human") return "human";
  return hand.name === asker ? "agent" : "other";
}

function readRows(result: JsonObject): { changes: readonly ChangeRow[]; complete: boolean } {
  return parseChangeFeed(result);
}

function markerOf(result: JsonObject): string | undefined {
  return (result["_meta"] as { revision?: string } | undefined)?.revision;
}
