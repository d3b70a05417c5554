import { describe, expect, test } from "vitest";
import { createChangeLog } from "../src/change-log.ts";
import { createMarkers, extendReading } from "../src/marker.ts";
import { findConflict } from "../src/touch.ts";

const nobody = { hand: { type: "human" } as const, undo: undefined, settled: false };

describe("the change log", () => {
  test("keeps at most what it may, containers and also-touched handles included", () => {
    const log = createChangeLog(10);
    for (let index = 0; index < 50; index++)
      log.append({ ...nobody, changes: [{ handle: `h${index}`, kind: "updated", alsoTouches: ["x", "y"] }] }, () => [
        "frame",
      ]);
    expect(log.head).toBe(50);
    expect(log.forgotten).toBe(48);
    expect(log.at(48)).toBeUndefined();
    expect(log.newest("self", "h47")).toBeUndefined();
    let traces = 0;
    for (let at = log.newest("self", "x"); at !== undefined; at = at.older) traces++;
    expect(traces).toBe(2);
  });

  test("forgets a commit that is larger than the log", () => {
    const log = createChangeLog(3);
    const changes = Array.from({ length: 4 }, (_, index) => ({ handle: `h${index}`, kind: "created" }) as const);
    log.append({ ...nobody, changes }, () => []);
    expect([log.head, log.forgotten]).toEqual([1, 1]);
    expect(log.newest("self", "h3")).toBeUndefined();
  });

  test("finds a handle at the same cost however long it is", () => {
    const log = createChangeLog(200_000);
    for (let index = 0; index < 100_000; index++)
      log.append({ ...nobody, changes: [{ handle: `h${index % 1_000}`, kind: "updated" }] }, () => []);
    expect(log.newest("self", "h7")?.commit.seq).toBe(99_008);
    expect(log.newest("self", "h7")?.older?.commit.seq).toBe(98_008);
  });
});

describe("what stands against a write", () => {
  test("is looked for once in each history, however often a call names it and however much is in it", () => {
    const log = createChangeLog(10_000);
    for (let index = 0; index < 500; index++)
      log.append({ ...nobody, changes: [{ handle: index % 2 === 0 ? "frame" : "card", kind: "moved" }] }, (handle) =>
        handle === "card" ? ["frame"] : [],
      );
    let asked = 0;
    const isSeen = () => ++asked > 0;
    const touches = Array.from({ length: 1_000 }, (_, index) => ({
      handle: index % 3 === 0 ? "card" : `new ${index}`,
      contents: true,
    }));
    const view = { touches, base: 0, isSeen, seenIsChecked: false };
    expect(findConflict(log, view, () => ["frame"])).toBeUndefined();
    expect(asked).toBe(500);
  });
});

describe("markers", () => {
  test("are read back, and only by the life that minted them", () => {
    const markers = createMarkers("life");
    const reading = { base: 7, seen: [9, 12] };
    expect(markers.read(markers.mint(reading))).toEqual(reading);
    expect(createMarkers("other").read(markers.mint(reading))).toBeUndefined();
    expect(markers.read("life.7.2.3 ")).toBeUndefined();
    expect(markers.read("life")).toBeUndefined();
  });

  test("draw together what has no hole in it", () => {
    expect(extendReading({ base: 5, seen: [] }, [6, 7, 9])).toEqual({ base: 7, seen: [9] });
    expect(extendReading({ base: 7, seen: [9] }, [8])).toEqual({ base: 9, seen: [] });
    expect(extendReading({ base: 7, seen: [] }, [3, 7])).toEqual({ base: 7, seen: [] });
  });
});
