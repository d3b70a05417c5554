import { describe, expect, test } from "vitest";
import { createSurface } from "../src/index.ts";
import { bindStore, type Items } from "../src/store.ts";
import { feedOf, joinLocally, refusalOf, revisionOf, textOf } from "./local-agent.ts";

interface Card {
  readonly title: string;
  readonly x: number;
}

/** A store as applications have them: a value, and whoever listens to it. */
function createStore<T>(initial: T, notify: (listener: () => void) => void = (listener) => listener()) {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next: T) {
      value = next;
      for (const listener of listeners) notify(listener);
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function openBoard(notify?: (listener: () => void) => void) {
  const store = createStore<Items<Card>>({ a: { title: "A", x: 0 }, b: { title: "B", x: 0 } }, notify);
  const surface = createSurface({ id: "board", application: "test" });
  const binding = bindStore({
    surface,
    ...store,
    isEqual: (before, after) => before.title === after.title && before.x === after.x,
    isMove: (before, after) => before.title === after.title,
    labelOf: ({ title }) => title,
  });
  surface.tool({ name: "read", touches: "none", handler: () => ({ structuredContent: { ...store.get() } }) });
  surface.tool<{ card: string; title: string }>({
    name: "rename",
    touches: ({ card }) => [card],
    handler({ card, title }, call) {
      binding.commit(call, (items) => ({ ...items, [card]: { x: 0, ...items[card], title } }));
      return "done";
    },
  });
  surface.tool<{ card: string }>({
    name: "drop",
    touches: ({ card }) => [card],
    stage: true,
    handler({ card }, call) {
      binding.propose(call, ({ [card]: _, ...rest }) => rest, { summary: `Drop ${card}` });
      return undefined;
    },
  });
  const agent = joinLocally(surface, "tidy");
  const rows = async () => feedOf(await agent.call("changes_since")).rows;
  return { store, surface, binding, agent, rows };
}

describe("a plain store", () => {
  test("tells what a person did, item by item", async () => {
    const { store, surface, rows } = openBoard();
    const { a, b } = store.get();
    store.set({ ...store.get(), c: { title: "C", x: 0 } });
    store.set({ ...store.get(), a: { title: "A", x: 9 }, b: { title: "B2", x: 9 } });
    store.set({ a: a as Card, c: { title: "C", x: 0 } });
    store.set({ ...store.get() });
    expect(b).toBeDefined();
    expect(await rows()).toEqual([
      "c created human",
      "a moved human",
      "b updated human",
      "a moved human",
      "b deleted human",
    ]);
    expect(surface.getSnapshot().history.at(-1)).toMatchObject({ change: { label: "B2" } });
  });

  test("refuses a call over a person's edit, and lets one on another card through", async () => {
    const { store, agent } = openBoard();
    const revision = revisionOf(await agent.call("read"));
    store.set({ ...store.get(), a: { title: "Mine", x: 0 } });
    expect(refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision }))?.rows).toEqual([
      "a updated human",
    ]);
    expect(textOf(await agent.call("rename", { card: "b", title: "T" }, { revision }))).toBe("done");
    expect(store.get()).toEqual({ a: { title: "Mine", x: 0 }, b: { title: "T", x: 0 } });
  });

  test.each([
    ["at once", undefined],
    ["later", (listener: () => void) => queueMicrotask(listener)],
  ])("records an agent's commit once, by its hand, when it notifies %s", async (_, notify) => {
    const { agent, rows } = openBoard(notify);
    await agent.call("rename", { card: "a", title: "T" });
    await agent.call("rename", { card: "new", title: "N" });
    expect(await rows()).toEqual(["a updated agent", "new created agent"]);
  });

  test("holds a commit against a person's edit of which it has no news yet", async () => {
    const waiting: (() => void)[] = [];
    const { store, agent, rows } = openBoard((listener) => waiting.push(listener));
    const revision = revisionOf(await agent.call("read"));
    store.set({ ...store.get(), a: { title: "Mine", x: 0 } });
    expect(refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision }))).toBeDefined();
    for (const listener of waiting) listener();
    expect(await rows()).toEqual(["a updated human"]);
  });

  test("takes an agent's commit back, and nothing else", async () => {
    const { store, surface, agent } = openBoard();
    await agent.call("rename", { card: "a", title: "T" });
    store.set({ ...store.get(), b: { title: "Mine", x: 0 } });
    expect(surface.undo("tidy").undone).toBe(true);
    expect(store.get()).toEqual({ a: { title: "A", x: 0 }, b: { title: "Mine", x: 0 } });
  });

  test("puts an accepted proposal into the state of that moment", async () => {
    const { store, surface, agent, rows } = openBoard();
    await agent.call("drop", { card: "a" });
    store.set({ ...store.get(), b: { title: "Mine", x: 0 } });
    expect(surface.getSnapshot().proposals[0]?.proposal.summary).toBe("Drop a");
    expect(surface.getSnapshot().proposals[0]?.accept()).toBe("accepted");
    expect(store.get()).toEqual({ b: { title: "Mine", x: 0 } });
    expect(await rows()).toEqual(["b updated human", "a deleted agent"]);
  });

  test("is no longer followed once the binding is closed", async () => {
    const { store, binding, rows } = openBoard();
    binding.close();
    store.set({});
    expect(await rows()).toEqual([]);
  });

  test("takes a handle that objects have by nature for what it is", async () => {
    const { store, agent, rows } = openBoard();
    await agent.call("rename", { card: "constructor", title: "T" });
    expect(store.get()["constructor"]).toEqual({ x: 0, title: "T" });
    expect(await rows()).toEqual(["constructor created agent"]);
  });
});
