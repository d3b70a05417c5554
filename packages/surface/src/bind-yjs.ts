import type * as Y from "yjs";
import type { Change, Hand } from "./change.ts";
import type { Surface } from "./surface.ts";
import type { Call, CommitOptions, ProposeOptions, StagedCall } from "./tool.ts";

export interface BindYjsOptions<T = unknown> {
  surface: Surface;
  /** The items of the document, by handle. Give plain values or shared types; it has to be part of a document. */
  items: Y.Map<T>;
  /**
   * Where agents' commits leave word of whose hand they were, for the other pages of the document.
   * @default the map "human-plus hands" of the document
   */
  hands?: Y.Map<HandNote> | undefined;
  /** The person who edits under a client id of the document, as awareness may know. @default {type: "human"} */
  personOf?: ((clientId: number) => Hand | undefined) | undefined;
  /** Keys of an item that say where it is: if nothing else changed, it was moved. @default none */
  placeKeys?: readonly string[] | undefined;
  /** A name of an item for people. @default none */
  labelOf?: ((item: T | undefined, handle: string) => string | undefined) | undefined;
}

/** Word of an agent's commit of one handle: in the document, in the same transaction as the commit. */
export interface HandNote {
  readonly type: Hand["type"];
  readonly id?: string;
  readonly kind: Change["kind"];
  /** Where the transaction began, or the first of several of that hand in a row, in the clock of its client. */
  readonly from: number;
}

export interface YjsBinding {
  /** Commits as the caller's hand, in one transaction whose origin is this binding. @throws StalePinError */
  commit<T>(call: AgentCall<"commit">, changes: Change | readonly Change[], apply: () => T, options?: CommitOptions): T;
  /** Proposes the same. */
  propose(
    call: AgentCall<"propose">,
    changes: Change | readonly Change[],
    apply: () => void,
    options?: ProposeOptions,
  ): void;
  /** Lets go of the document. */
  close(): void;
}

/** What the binding needs of a call. */
type AgentCall<K extends "commit" | "propose"> = Pick<Call & StagedCall, K | "participantId">;

interface Note extends HandNote {
  /** Who made the transaction, and where in the clock of that client it ended. */
  readonly client: number;
  readonly until: number;
}

/** What happened to one handle in a transaction, and the structs in which it did. */
interface Seen {
  kind: Change["kind"];
  readonly authors: Y.ID[];
}

/** A value that was set under a key of a map. */
type Member = Y.Item & { readonly parentSub: string };

const HUMAN: Hand = { type: "human" };

/**
 * Tells a surface what changes in a Yjs document, by whose hand: people here, people and agents at other pages, and
 * agents here, whose commits go through `commit`.
 */
export function bindYjs<T>({
  surface,
  items,
  hands: givenHands,
  personOf = () => undefined,
  placeKeys = [],
  labelOf = () => undefined,
}: BindYjsOptions<T>): YjsBinding {
  const doc = items.doc;
  if (doc === null) throw new TypeError("the items are not part of a document");
  const hands = givenHands ?? doc.getMap<HandNote>("human-plus hands");
  /** The changes of the commit that is being applied: the surface has them already. */
  let committing: readonly Change[] | undefined;
  /** By handle: the hand here that wrote it last, and since when. A later note takes the place of an earlier one. */
  const runs = new Map<string, { readonly id: string | undefined; readonly from: number }>();

  function observe(events: Y.YEvent<Y.AbstractType<unknown>>[], transaction: Y.Transaction): void {
    const seen = readEvents(events, transaction);
    if (committing !== undefined) {
      for (const { handle } of committing) seen.delete(handle);
      if (seen.size > 0) surface.recordChange([...seen].map(([handle, { kind }]) => toChange(handle, kind)));
      return;
    }
    if (transaction.local) for (const handle of seen.keys()) runs.delete(handle);
    const notes = readNotes(transaction);
    for (const [handle, { kind, authors }] of seen) {
      const noted = notes.get(handle) ?? [];
      for (const { kind, type, id } of noted.toReversed()) record(handle, kind, { type, id });
      // One update may hold the work of several hands, and a deletion names nobody.
      const byClient = Map.groupBy(noted, ({ client }) => client);
      const stranger = authors.find(({ client, clock }) => !isNoted(byClient.get(client), clock));
      const isDeletedByOther = kind === "deleted" && noted.every((note) => note.kind !== "deleted");
      if (noted.length === 0 || stranger !== undefined || isDeletedByOther)
        record(handle, kind, personAt(stranger?.client ?? (transaction.local ? transaction.doc.clientID : undefined)));
    }
  }

  /** The notes that came with a transaction, by handle and the newest first; also those that lost against a later one. */
  function readNotes(transaction: Y.Transaction): Map<string, Note[]> {
    const notes = new Map<string, Note[]>();
    if (!transaction.changed.has(hands as never)) return notes;
    for (const { id, parent, parentSub, content } of newMembers(transaction)) {
      if (parent !== (hands as unknown)) continue;
      const [note] = content.getContent() as (HandNote | undefined)[];
      if (note !== undefined) addTo(notes, parentSub, { ...note, client: id.client, until: id.clock });
    }
    return notes;
  }

  function readEvents(events: Y.YEvent<Y.AbstractType<unknown>>[], transaction: Y.Transaction): Map<string, Seen> {
    const seen = new Map<string, Seen>();
    const replaced = readReplaced(transaction);
    const at = (handle: string, kind: Change["kind"]) => {
      const known = seen.get(handle);
      if (known === undefined) seen.set(handle, { kind, authors: [] });
      else if (known.kind === "moved") known.kind = kind;
      return (seen.get(handle) as Seen).authors;
    };
    for (const event of [...events].sort((a, b) => a.path.length - b.path.length)) {
      const { keys } = event.changes;
      if (event.target === (items as unknown)) {
        for (const [handle, { action }] of keys) {
          const authors = at(handle, action === "add" ? "created" : action === "delete" ? "deleted" : "updated");
          const item = items._map.get(handle);
          if (action !== "delete" && item !== undefined) authors.push(item.id);
        }
        for (const { id, parentSub } of replaced.get(event.target) ?? []) at(parentSub, "updated").push(id);
        continue;
      }
      const others = replaced.get(event.target) ?? [];
      const written = [...keys.keys(), ...others.map(({ parentSub }) => parentSub)];
      const isMove = written.length > 0 && written.every((key) => placeKeys.includes(key));
      const authors = at(String(event.path[0]), isMove ? "moved" : "updated");
      for (const key of keys.keys()) {
        const item = event.target._map.get(key);
        if (item !== undefined && !item.deleted) authors.push(item.id);
      }
      for (const item of [...event.changes.added, ...others]) authors.push(item.id);
    }
    return seen;
  }

  function personAt(client: number | undefined): Hand {
    return (client === undefined ? undefined : personOf(client)) ?? HUMAN;
  }

  function toChange(handle: string, kind: Change["kind"]): Change {
    return { handle, kind, label: labelOf(items.get(handle), handle) };
  }

  function record(handle: string, kind: Change["kind"], by: Hand): void {
    surface.recordChange(toChange(handle, kind), { by });
  }

  /** One transaction, with word of whose hand it is. */
  function transact<T>(changes: readonly Change[], id: string | undefined, apply: () => T): T {
    const outer = committing;
    committing = changes;
    try {
      return (doc as Y.Doc).transact((transaction) => {
        const value = apply();
        const start = transaction.beforeState.get(transaction.doc.clientID) ?? 0;
        for (const { handle, kind } of changes) {
          const run = runs.get(handle);
          const from = run !== undefined && run.id === id ? run.from : start;
          runs.set(handle, { id, from });
          hands.set(handle, { type: "agent", ...(id !== undefined && { id }), kind, from });
        }
        return value;
      }, binding);
    } finally {
      committing = outer;
    }
  }

  function wrap(participantId: string | undefined, given: Change | readonly Change[], undo: (() => void) | undefined) {
    const changes = "handle" in given ? [given] : given;
    return {
      run: <T>(apply: () => T) => transact(changes, participantId, apply),
      options: { undo: undo && (() => transact(changes, participantId, undo)) },
    };
  }

  const binding: YjsBinding = {
    commit(call, changes, apply, { undo } = {}) {
      const { run, options } = wrap(call.participantId, changes, undo);
      return call.commit(changes, () => run(apply), options);
    },
    propose(call, changes, apply, { undo, ...rest } = {}) {
      const { run, options } = wrap(call.participantId, changes, undo);
      call.propose(changes, () => run(apply), { ...rest, ...options });
    },
    close: () => items.unobserveDeep(observe),
  };
  items.observeDeep(observe);
  return binding;
}

/** @param notes of one client, the newest first: an older one neither begins nor ends after it */
function isNoted(notes: readonly Note[] = [], clock: number): boolean {
  let [first, end] = [0, notes.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if ((notes[middle] as Note).until > clock) first = middle + 1;
    else end = middle;
  }
  const note = notes[first - 1];
  return note !== undefined && note.from <= clock;
}

/** What a transaction set in maps, of each client the newest first. */
function* newMembers({ doc, beforeState }: Y.Transaction): Generator<Member> {
  for (const [client, structs] of doc.store.clients) {
    const known = beforeState.get(client) ?? 0;
    for (let index = structs.length - 1; index >= 0; index--) {
      const struct = structs[index] as Y.Item | Y.GC;
      if (struct.id.clock < known) break;
      if ("parentSub" in struct && struct.parentSub !== null) yield struct as Member;
    }
  }
}

/** By map: what came and had something else in its place at once, such as what somebody set at the same time. Events leave it out. */
function readReplaced(transaction: Y.Transaction): Map<object, Member[]> {
  const replaced = new Map<object, Member[]>();
  if (transaction.local) return replaced;
  for (const member of newMembers(transaction)) {
    const { parent, parentSub, deleted } = member;
    if (!deleted || parent === null || !("_map" in parent)) continue;
    if (parent._map.get(parentSub)?.deleted !== false) continue;
    addTo(replaced, parent, member);
  }
  return replaced;
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
