import { type Activity, type JsonObject, methods } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import type { Surface, SurfaceSnapshot } from "../src/index.ts";
import { createBoard } from "./board.ts";
import { joinLocally, revisionOf } from "./local-agent.ts";

function activity(id: string, change: Partial<Activity> = {}): JsonObject {
  return {
    actor: { id, name: id.toUpperCase(), color: "#0a0", type: "agent" },
    surfaceId: "board",
    sessionId: "session",
    action: "tidying up",
    target: "a",
    priority: "normal",
    ...change,
  };
}

/** The first snapshot, now or later, of which this is true. */
function until(surface: Surface, holds: (snapshot: SurfaceSnapshot) => boolean): Promise<SurfaceSnapshot> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds(surface.getSnapshot())) return;
      unsubscribe();
      resolve(surface.getSnapshot());
    };
    const unsubscribe = surface.subscribe(look);
    look();
  });
}

describe("participants", () => {
  test("appear with name, colour and activity", () => {
    const { surface } = createBoard();
    joinLocally(surface).notify(methods.activity, activity("tidy"));
    expect(surface.getSnapshot().participants).toMatchObject([
      { id: "tidy", name: "TIDY", color: "#0a0", connected: true, activity: { action: "tidying up", target: "a" } },
    ]);
  });

  test.each([
    ["no type", { actor: { id: "x", name: "X" } }],
    ["a human actor", { actor: { id: "x", name: "X", type: "human" } }],
    ["another surface", { surfaceId: "elsewhere" }],
    ["a colour that is none", { actor: { id: "x", name: "X", color: "red;", type: "agent" } }],
    ["an action over its bound", { action: "x".repeat(257) }],
  ])("do not appear from presence with %s", (_, change) => {
    const { surface } = createBoard();
    joinLocally(surface).notify(methods.activity, activity("tidy", change as Partial<Activity>));
    expect(surface.getSnapshot().participants).toEqual([]);
  });

  test("appear nameless when they call before they announce themselves", async () => {
    const { surface } = createBoard();
    await joinLocally(surface, "tidy").call("read");
    expect(surface.getSnapshot().participants).toMatchObject([{ id: "tidy", name: undefined }]);
  });

  test("are bounded: whoever was seen longest ago goes", () => {
    const { surface } = createBoard({ maxParticipants: 2 });
    const agent = joinLocally(surface);
    for (const id of ["one", "two", "one", "three"]) agent.notify(methods.activity, activity(id));
    expect(surface.getSnapshot().participants.map(({ id }) => id)).toEqual(["one", "three"]);
  });

  test("age: first their activity, then they themselves", async () => {
    const { surface } = createBoard({ activityTtlMs: 20, participantTtlMs: 60 });
    joinLocally(surface).notify(methods.activity, activity("tidy"));
    expect((await until(surface, ({ participants: [p] }) => p?.activity === undefined)).participants).toHaveLength(1);
    expect((await until(surface, ({ participants }) => participants.length === 0)).participants).toEqual([]);
  });

  test("are not connected when the last client left, and are again when they act", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    for (const client of ["c1", "c2"]) agent.notify(methods.peerJoined, { client });
    agent.notify(methods.activity, activity("tidy"));
    agent.notify(methods.peerLeft, { client: "c1" });
    expect(surface.getSnapshot().participants).toMatchObject([{ connected: true }]);
    agent.notify(methods.peerLeft, { client: "c2" });
    expect(surface.getSnapshot().participants).toMatchObject([{ connected: false, activity: undefined }]);
    await agent.call("read");
    expect(surface.getSnapshot().participants).toMatchObject([{ connected: true, name: "TIDY" }]);
  });
});

describe("whose connection ended", () => {
  test("is told by the label: its participant's id and a dot, the longer id of two that fit", () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface);
    const connected = () =>
      Object.fromEntries(surface.getSnapshot().participants.map(({ id, connected }) => [id, connected]));
    for (const id of ["tidy", "tidy.two", "scout"]) agent.notify(methods.activity, activity(id));
    for (const client of ["tidy.aa.0", "tidy.aa.1", "tidy.two.bb.0", "scout.cc.0"])
      agent.notify(methods.peerJoined, { client });
    agent.notify(methods.peerLeft, { client: "tidy.two.bb.0" });
    expect(connected()).toEqual({ tidy: true, "tidy.two": false, scout: true });
    agent.notify(methods.peerLeft, { client: "tidy.aa.0" });
    expect(connected()).toEqual({ tidy: true, "tidy.two": false, scout: true });
    agent.notify(methods.peerLeft, { client: "tidy.aa.1" });
    expect(connected()).toEqual({ tidy: false, "tidy.two": false, scout: true });
  });
});

describe("the snapshot", () => {
  test("is the same object until something changes", () => {
    const { surface, rename } = createBoard();
    const before = surface.getSnapshot();
    expect(surface.getSnapshot()).toBe(before);
    rename("a", "1");
    expect(surface.getSnapshot()).not.toBe(before);
  });

  test("tells what happened, with names, and is bounded", async () => {
    const { surface, rename } = createBoard({ maxHistory: 3 });
    const agent = joinLocally(surface, "tidy");
    agent.notify(methods.activity, activity("tidy"));
    const revision = revisionOf(await agent.call("read"));
    await agent.call("rename", { card: "b", title: "T" });
    rename("a", "Mine");
    await agent.call("rename", { card: "a", title: "T" }, { revision });
    await agent.call("suggest", { card: "a", title: "T" });
    expect(surface.getSnapshot().history).toMatchObject([
      { type: "change", change: { handle: "a", kind: "updated" }, hand: { type: "human" } },
      { type: "refused", tool: "rename", by: "TIDY", changes: [{ handle: "a", kind: "updated", actor: "human" }] },
      { type: "proposal", state: "proposed", by: "TIDY", summary: "Rename a" },
    ]);
  });

  test("reaches every listener, also after one that throws", async () => {
    const { surface, rename } = createBoard();
    const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
    let told = 0;
    surface.subscribe(() => {
      throw new Error("a broken view");
    });
    const stop = surface.subscribe(() => told++);
    rename("a", "1");
    expect(told).toBe(1);
    expect(String(await thrown)).toContain("a broken view");
    stop();
    expect(told).toBe(1);
  });
});

describe("agents", () => {
  test("are told that a person acts, at once and then not too often", async () => {
    const { surface, rename } = createBoard({ activityIntervalMs: 40 });
    const agent = joinLocally(surface, "tidy");
    const told = () => agent.notifications.filter(({ method }) => method === methods.agentActivity);
    for (let index = 0; index < 20; index++) rename("a", `${index}`);
    expect(told()).toEqual([{ method: methods.agentActivity, params: { source: "user" } }]);
    await agent.call("rename", { card: "b", title: "T" });
    const second = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (told().length < 2) return;
        clearInterval(look);
        resolve();
      }, 5);
    });
    await second;
    expect(told()).toHaveLength(2);
  });

  test("are not told that a person acts when an agent does", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "b", title: "T" });
    expect(agent.notifications.filter(({ method }) => method === methods.agentActivity)).toEqual([]);
  });
});
