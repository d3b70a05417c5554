import type { Change, Hand } from "./change.ts";
import type { Surface } from "./surface.ts";
import type { Call, ProposeOptions, StagedCall } from "./tool.ts";

/** The state of a store: its items by handle. An item that changes is another object. */
export type Items<T> = Readonly<Record<string, T>>;

export interface BindStoreOptions<T> {
  surface: Surface;
  get: () => Items<T>;
  set: (items: Items<T>) => void;
  /** Calls back after every change, best in the same tick; returns how to stop. */
  subscribe: (listener: () => void) => () => void;
  /** Whether an item is what it was. @default Object.is */
  isEqual?: ((before: T, after: T) => boolean) | undefined;
  /** Whether all that changed of an item is its place. @default never */
  isMove?: ((before: T, after: T) => boolean) | undefined;
  /** A name of an item for people. @default none */
  labelOf?: ((item: T, handle: string) => string | undefined) | undefined;
  /** Whose hand changes the store outside of commits. @default {type: "human"} */
  person?: Hand | undefined;
}

export interface StoreBinding<T> {
  /** Commits what an edit makes of the items, as the caller's hand. It can be undone. @throws StalePinError */
  commit(call: Pick<Call, "commit">, edit: (items: Items<T>) => Items<T>): void;
  /** Proposes it: when a person accepts, the items that it changed are put into the state of that moment. */
  propose(
    call: Pick<StagedCall, "propose">,
    edit: (items: Items<T>) => Items<T>,
    options?: Pick<ProposeOptions, "summary">,
  ): void;
  /** Lets go of the store. */
  close(): void;
}

/** Tells a surface what changes in a plain store, item by item, and by whose hand. */
export function bindStore<T>({
  surface,
  get,
  set,
  subscribe,
  isEqual = Object.is,
  isMove = () => false,
  labelOf = () => undefined,
  person = { type: "human" },
}: BindStoreOptions<T>): StoreBinding<T> {
  let known = get();

  function diff(before: Items<T>, after: Items<T>): Change[] {
    const changes: Change[] = [];
    for (const handle of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const kind = kindOf(itemOf(before, handle), itemOf(after, handle));
      const [item] = itemOf(after, handle) ?? itemOf(before, handle) ?? [];
      if (kind !== undefined) changes.push({ handle, kind, label: labelOf(item as T, handle) });
    }
    return changes;
  }

  function kindOf(before: [T] | undefined, after: [T] | undefined): Change["kind"] | undefined {
    if (before === undefined) return after && "created";
    if (after === undefined) return "deleted";
    if (isEqual(before[0], after[0])) return undefined;
    return isMove(before[0], after[0]) ? "moved" : "updated";
  }

  /** Records what changed and was not recorded yet. */
  function catchUp(): void {
    const before = known;
    known = get();
    const changes = before === known ? [] : diff(before, known);
    if (changes.length > 0) surface.recordChange(changes, { by: person });
  }

  /** Gives the items of a change the values that they have in `source`, and leaves all others as they are now. */
  function put(changes: readonly Change[], source: Items<T>): void {
    const items = new Map(Object.entries(get()));
    for (const { handle } of changes) {
      const item = itemOf(source, handle);
      if (item === undefined) items.delete(handle);
      else items.set(handle, item[0]);
    }
    const next = Object.fromEntries(items);
    known = next; // so that the store's own news of it finds nothing new
    set(next);
    known = get();
  }

  function plan(edit: (items: Items<T>) => Items<T>) {
    catchUp();
    const before = get();
    const after = edit(before);
    const changes = diff(before, after);
    return { changes, apply: () => put(changes, after), undo: () => put(changes, before) };
  }

  const unsubscribe = subscribe(catchUp);
  return {
    commit(call, edit) {
      const { changes, apply, undo } = plan(edit);
      call.commit(changes, apply, { undo });
    },
    propose(call, edit, options = {}) {
      const { changes, apply, undo } = plan(edit);
      call.propose(changes, apply, { ...options, undo });
    },
    close: unsubscribe,
  };
}

function itemOf<T>(items: Items<T>, handle: string): [T] | undefined {
  return Object.hasOwn(items, handle) ? [items[handle] as T] : undefined;
}
