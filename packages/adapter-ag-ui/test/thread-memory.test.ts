import { expect, test } from "vitest";
import { texts } from "../src/middleware/call-text.ts";
import { ThreadMemory } from "../src/middleware/thread-memory.ts";
import { RecentMap } from "../src/recent-map.ts";

const call = (id: string, args = "{}") => ({ id, name: "read", args });

test("a call is made once, and its like with other arguments is another", async () => {
  const memory = new ThreadMemory();
  let made = 0;
  const make = () => Promise.resolve(`answer ${++made}`);
  expect(await memory.once(call("1"), make)).toBe("answer 1");
  expect(await memory.once(call("1"), make)).toBe("answer 1");
  expect(await memory.once(call("1", '{"x":1}'), make)).toBe("answer 2");
  expect(await memory.once({ ...call("1"), name: "write" }, make)).toBe("answer 3");
});

test("the latest answers are kept, as many as fit", () => {
  const memory = new ThreadMemory();
  for (let index = 0; index < 200; index++) memory.remember(call(`${index}`), "x");
  expect(memory.answerOf(call("199"))).toBe("x");
  expect(memory.answerOf(call("136"))).toBe("x");
  expect(memory.answerOf(call("135"))).toBe(texts.madeBefore);
  for (const id of ["a", "b", "c"]) memory.remember(call(id), "y".repeat(100_000));
  expect(memory.answerOf(call("a"))).toBe(texts.madeBefore);
  expect(memory.answerOf(call("c"))).toHaveLength(100_000);
  memory.remember(call("huge"), "z".repeat(300_000));
  expect(memory.answerOf(call("huge"))).toBe(texts.madeBefore);
  expect(memory.answerOf(call("c"))).toHaveLength(100_000);
});

test("a call whose answer is not kept any more is not made again", async () => {
  const memory = new ThreadMemory();
  let made = 0;
  const make = async () => `${++made}`.padEnd(60_000, "y");
  for (let delivery = 1; delivery <= 2; delivery++)
    for (let index = 0; index < 8; index++) await memory.once(call(`${index}`), make);
  expect(made).toBe(8);
  expect(await memory.once(call("0"), make)).toBe(texts.madeBefore);
});

test("what is known of calls is bounded, in number and in size", () => {
  const memory = new ThreadMemory();
  for (let index = 0; index < 5_000; index++) memory.remember(call(`${index}`), "x");
  expect(memory.answerOf(call("0"))).toBeUndefined();
  expect(memory.answerOf(call("4999"))).toBe("x");
  for (let index = 0; index < 10; index++) memory.remember(call(`${index}`, "z".repeat(200_000)), "x");
  expect(memory.answerOf(call("0", "z".repeat(200_000)))).toBeUndefined();
  expect(memory.answerOf(call("4999"))).toBeUndefined();
  expect(memory.answerOf(call("9", "z".repeat(200_000)))).toBe("x");
});

test("a map of recent things lets go of what was used longest ago, and says so", () => {
  const dropped: string[] = [];
  const map = new RecentMap<string, string>(2, (value) => void dropped.push(value));
  map.set("a", "A");
  map.set("b", "B");
  map.get("a");
  map.set("c", "C");
  expect([...map.keys()]).toEqual(["a", "c"]);
  expect(dropped).toEqual(["B"]);
});
