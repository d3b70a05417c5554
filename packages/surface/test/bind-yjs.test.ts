import { describe, expect, test } from "vitest";
import * as Y from "yjs";
import { createSurface, type Surface } from "../src/index.ts";
import { bindYjs, type YjsBinding } from "../src/yjs.ts";
import { feedOf, joinLocally, type LocalAgent, refusalOf, revisionOf, textOf } from "./local-agent.ts";

interface Page {
  readonly doc: Y.Doc;
  readonly items: Y.Map<Y.Map<unknown>>;
  readonly surface: Surface;
  readonly binding: YjsBinding;
  readonly agent: LocalAgent;
  /** A person writes on a card. */
  write(card: string, values: Record<string, unknown>): void;
  rows(): Promise<string[]>;
}

/** A page with its own surface and its own agent, on its own copy of the document. */
function openPage(participantId: string, clientID: number): Page {
  const doc = new Y.Doc();
  doc.clientID = clientID;
  const items = doc.getMap<Y.Map<unknown>>("cards");
  const surface = createSurface({ id: "board", application: "test" });
  const binding = bindYjs({
    surface,
    items,
    placeKeys: ["x", "y"],
    personOf: (client) => ({ type: "human", id: `person ${client}` }),
    labelOf: (card) => (card instanceof Y.Map ? String(card.get("title")) : undefined),
  });
  function write(card: string, values: Record<string, unknown>): void {
    const known = items.get(card) ?? items.set(card, new Y.Map());
    for (const [key, value] of Object.entries(values)) known.set(key, value);
  }
  surface.tool({ name: "read", touches: "none", handler: () => ({ structuredContent: items.toJSON() }) });
  surface.tool<{ card: string; title: string; and?: string }>({
    name: "rename",
    touches: ({ card }) => [card],
    handler({ card, title, and }, call) {
      const before = items.get(card)?.get("title");
      const apply = () => {
        write(card, { title });
        if (and !== undefined) write(and, { title });
      };
      binding.commit(call, { handle: card, kind: "updated" }, apply, { undo: () => write(card, { title: before }) });
      return "done";
    },
  });
  surface.tool<{ card: string }>({
    name: "drop",
    touches: ({ card }) => [card],
    stage: true,
    handler: ({ card }, call) => {
      binding.propose(call, { handle: card, kind: "deleted" }, () => items.delete(card));
      return undefined;
    },
  });
  const agent = joinLocally(surface, participantId);
  return {
    doc,
    items,
    surface,
    binding,
    agent,
    write: (card, values) => doc.transact(() => write(card, values)),
    rows: async () => feedOf(await agent.call("changes_since")).rows,
  };
}

/** Two pages of one document; what one does is at the other in the same tick until `part`. */
function openTwo(): { here: Page; there: Page; part(): void; meet(): void } {
  const here = openPage("tidy", 1);
  const there = openPage("scout", 2);
  let isOnline = true;
  const send = (from: Page, to: Page) =>
    from.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (isOnline && origin !== "sync") Y.applyUpdate(to.doc, update, "sync");
    });
  send(here, there);
  send(there, here);
  return {
    here,
    there,
    part() {
      isOnline = false;
    },
    meet() {
      isOnline = true;
      for (const [from, to] of [[here, there] as const, [there, here] as const])
        Y.applyUpdate(to.doc, Y.encodeStateAsUpdate(from.doc, Y.encodeStateVector(to.doc)), "sync");
    },
  };
}

describe("a document that people share", () => {
  test("tells what a person here created, edited, moved and deleted", async () => {
    const { write, items, rows, surface } = openPage("tidy", 1);
    write("a", { title: "A", x: 1 });
    write("a", { title: "B" });
    write("a", { x: 2, y: 3 });
    write("a", { x: 4, title: "C" });
    items.delete("a");
    expect(await rows()).toEqual([
      "a created human",
      "a updated human",
      "a moved human",
      "a updated human",
      "a deleted human",
    ]);
    expect(surface.getSnapshot().history[0]).toMatchObject({
      hand: { type: "human", id: "person 1" },
      change: { label: "A" },
    });
  });

  test("tells what a person at another page did, as theirs", async () => {
    const { here, there } = openTwo();
    there.write("a", { title: "A" });
    there.items.delete("a");
    expect(await here.rows()).toEqual(["a created human", "a deleted human"]);
    expect(here.surface.getSnapshot().history[0]).toMatchObject({ hand: { type: "human", id: "person 2" } });
  });

  test("tells of what lost against something that was written at the same time, as what it was", async () => {
    const { here, there, part, meet } = openTwo();
    there.write("a", { title: "A", x: 1, y: 1 });
    part();
    // Of two that write at the same time, Yjs lets the greater client id win.
    here.write("a", { x: 2, y: 2 });
    there.write("a", { x: 3, y: 3 });
    here.write("b", { title: "of here" });
    there.write("b", { title: "of there" });
    meet();
    expect(there.items.toJSON()).toEqual({ a: { title: "A", x: 3, y: 3 }, b: { title: "of there" } });
    expect(await there.rows()).toEqual([
      "a created human",
      "a moved human",
      "b created human",
      "b updated human",
      "a moved human",
    ]);
    const ofHere = { hand: { type: "human", id: "person 1" } };
    expect(there.surface.getSnapshot().history.slice(-2)).toMatchObject([ofHere, ofHere]);
  });

  test("tells of an agent's commit that lost, as the agent's", async () => {
    const { here, there, part, meet } = openTwo();
    there.write("a", { title: "A" });
    await here.agent.call("read");
    part();
    await here.agent.call("rename", { card: "a", title: "of tidy" });
    there.write("a", { title: "of there" });
    meet();
    expect(there.items.toJSON()).toEqual({ a: { title: "of there" } });
    expect(await there.rows()).toEqual(["a created human", "a updated human", "a updated other"]);
  });

  test("tells of a person's edit and of an agent's after it that arrive together", async () => {
    const { here, there, part, meet } = openTwo();
    there.write("a", { title: "A" });
    part();
    there.write("a", { title: "of a person" });
    await there.agent.call("read");
    await there.agent.call("rename", { card: "a", title: "of scout" });
    meet();
    expect((await here.rows()).sort()).toEqual(["a created human", "a updated human", "a updated other"]);
  });

  test("tells nothing of what came and went within one transaction", async () => {
    const { doc, items, rows } = openPage("tidy", 1);
    doc.transact(() => {
      items.set("a", new Y.Map());
      items.delete("a");
    });
    expect(await rows()).toEqual([]);
  });

  test("tells of edits deep inside an item and of plain values", async () => {
    const { doc, items, rows } = openPage("tidy", 1);
    const text = new Y.Text();
    doc.transact(() => items.set("a", new Y.Map([["text", text]])));
    text.insert(0, "words");
    (items as Y.Map<unknown>).set("plain", 1);
    expect(await rows()).toEqual(["a created human", "a updated human", "plain created human"]);
  });

  test("refuses an agent's call over an edit from another page", async () => {
    const { here, there } = openTwo();
    here.write("a", { title: "A" });
    const revision = revisionOf(await here.agent.call("read"));
    there.write("a", { title: "Mine" });
    expect(refusalOf(await here.agent.call("rename", { card: "a", title: "Theirs" }, { revision }))?.rows).toEqual([
      "a updated human",
    ]);
    expect(here.items.get("a")?.get("title")).toBe("Mine");
    expect(there.items.get("a")?.get("title")).toBe("Mine");
  });

  test("is no longer followed once the binding is closed", async () => {
    const { binding, write, rows } = openPage("tidy", 1);
    binding.close();
    write("a", { title: "A" });
    expect(await rows()).toEqual([]);
  });
});

describe("an agent's commit", () => {
  test("is its own here, and another's at another page", async () => {
    const { here, there } = openTwo();
    here.write("a", { title: "A" });
    expect(textOf(await here.agent.call("rename", { card: "a", title: "T" }))).toBe("done");
    expect(there.items.get("a")?.get("title")).toBe("T");
    expect(await here.rows()).toEqual(["a created human", "a updated agent"]);
    expect(await there.rows()).toEqual(["a created human", "a updated other"]);
  });

  test("is one transaction, and its origin is the binding", async () => {
    const { doc, binding, write, agent } = openPage("tidy", 1);
    write("a", { title: "A" });
    const origins: unknown[] = [];
    doc.on("afterTransaction", ({ origin }: Y.Transaction) => origins.push(origin));
    await agent.call("rename", { card: "a", title: "T", and: "b" });
    expect(origins).toEqual([binding]);
  });

  test("that does more than it said is recorded with all it did", async () => {
    const { agent, rows } = openPage("tidy", 1);
    await agent.call("rename", { card: "a", title: "T", and: "b" });
    expect(await rows()).toEqual(["a updated agent", "b created agent"]);
  });

  test("is undone at both pages", async () => {
    const { here, there } = openTwo();
    here.write("a", { title: "A" });
    await here.agent.call("rename", { card: "a", title: "T" });
    expect(here.surface.undo("tidy").undone).toBe(true);
    expect(there.items.get("a")?.get("title")).toBe("A");
    expect(await here.rows()).toEqual(["a created human", "a updated agent", "a updated human"]);
  });

  test("that a person accepted keeps its hand, and a deletion at that", async () => {
    const { here, there } = openTwo();
    here.write("a", { title: "A" });
    await here.agent.call("drop", { card: "a" });
    expect(here.surface.getSnapshot().proposals[0]?.accept()).toBe("accepted");
    expect(there.items.has("a")).toBe(false);
    expect(await here.rows()).toEqual(["a created human", "a deleted agent"]);
    expect(await there.rows()).toEqual(["a created human", "a deleted other"]);
  });

  test("does not lend its hand to what a person does to the same card later", async () => {
    const { here, there } = openTwo();
    await here.agent.call("rename", { card: "a", title: "T" });
    here.write("a", { title: "Mine" });
    there.items.delete("a");
    expect(await there.rows()).toEqual(["a updated other", "a updated human", "a deleted human"]);
  });
});

describe("pages that were apart", () => {
  test("tell people's work from agents' in one update", async () => {
    const { here, there, part, meet } = openTwo();
    for (const card of ["a", "b", "c", "d"]) here.write(card, { title: card });
    part();
    await here.agent.call("rename", { card: "a", title: "T" });
    here.write("b", { title: "Mine" });
    await here.agent.call("rename", { card: "c", title: "T" });
    here.write("c", { x: 1 });
    here.write("d", { x: 1 });
    await here.agent.call("rename", { card: "d", title: "T" });
    meet();
    const rows = (await there.rows()).slice(4);
    expect(rows.filter((row) => row.startsWith("a "))).toEqual(["a updated other"]);
    expect(rows.filter((row) => row.startsWith("b "))).toEqual(["b updated human"]);
    expect(rows.filter((row) => row.startsWith("c "))).toEqual(["c updated other", "c updated human"]);
    expect(rows.filter((row) => row.startsWith("d "))).toEqual(["d updated other", "d updated human"]);
    expect(there.items.toJSON()).toEqual(here.items.toJSON());
  });

  test("tell several commits of one agent from a person's edit before them", async () => {
    const { here, there, part, meet } = openTwo();
    here.write("a", { title: "A" });
    here.write("b", { title: "B" });
    part();
    await here.agent.call("rename", { card: "a", title: "T" });
    await here.agent.call("rename", { card: "a", title: "U", and: "c" });
    here.write("b", { x: 1 });
    await here.agent.call("rename", { card: "b", title: "T" });
    await here.agent.call("rename", { card: "b", title: "U" });
    meet();
    const rows = (await there.rows()).slice(2);
    expect(rows.filter((row) => row.startsWith("a "))).toEqual(["a updated other"]);
    expect(rows.filter((row) => row.startsWith("b "))).toEqual(["b updated other", "b updated human"]);
  });

  test("tell two agents apart that wrote the same card at the same time", async () => {
    const { here, there, part, meet } = openTwo();
    here.write("a", { title: "A" });
    part();
    await here.agent.call("rename", { card: "a", title: "T" });
    await there.agent.call("rename", { card: "a", title: "S" });
    meet();
    expect((await here.rows()).slice(1)).toEqual(["a updated agent", "a updated other"]);
    expect((await there.rows()).slice(1)).toEqual(["a updated agent", "a updated other"]);
  });

  test("do not hide that a person deleted what an agent wrote", async () => {
    const { here, there, part, meet } = openTwo();
    here.write("a", { title: "A" });
    part();
    await here.agent.call("rename", { card: "a", title: "T" });
    here.items.delete("a");
    meet();
    expect((await there.rows()).at(-1)).toBe("a deleted human");
  });
});

test("items that belong to no document are refused", () => {
  expect(() => bindYjs({ surface: createSurface({ id: "x", application: "test" }), items: new Y.Map() })).toThrow(
    "not part of a document",
  );
});
