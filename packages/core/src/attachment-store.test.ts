import { expect, test } from "vitest";
import type { AttachmentRow } from "./attachment.ts";
import { MemoryAttachmentStore } from "./attachment-store.ts";

const row = (id: string, generation: number, updatedAt = 0) => ({ id, generation, updatedAt }) as AttachmentRow;

test("a row is written only over the generation that was expected", async () => {
  const store = new MemoryAttachmentStore({ now: () => 0 });
  await store.put(row("a", 1), 0);
  await expect(store.put(row("a", 1), 0)).rejects.toMatchObject({
    code: "attachment_conflict",
    outcome: "not_applied",
    retryable: true,
  });
  await store.put(row("a", 2), 1);
  await expect(store.put(row("a", 1), 1)).rejects.toMatchObject({ code: "attachment_conflict" });
  expect(await store.get("a")).toMatchObject({ generation: 2 });
});

test("a row that nobody wrote for the time to live is gone, and its place with it", async () => {
  let time = 0;
  const store = new MemoryAttachmentStore({ ttlMs: 100, now: () => time });
  await store.put(row("old", 1, 0));
  time = 99;
  expect(await store.get("old")).toBeDefined();
  time = 100;
  expect(await store.get("old")).toBeUndefined();
});

test("tasks under one lock run one after another, those under another beside them", async () => {
  const store = new MemoryAttachmentStore();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const a = store.lock("x", async () => {
    order.push("a begins");
    await first.promise;
    order.push("a ends");
  });
  const b = store.lock("x", async () => void order.push("b"));
  await store.lock("y", async () => void order.push("y"));
  first.resolve();
  await Promise.all([a, b]);
  expect(order).toEqual(["a begins", "y", "a ends", "b"]);
});

test("a task that fails frees the lock; one that gives up waiting does not let the next one in too early", async () => {
  const store = new MemoryAttachmentStore();
  await expect(store.lock("x", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const holding = Promise.withResolvers<void>();
  const order: string[] = [];
  const a = store.lock("x", async () => {
    await holding.promise;
    order.push("a");
  });
  const controller = new AbortController();
  const impatient = store.lock("x", async () => void order.push("impatient"), { signal: controller.signal });
  const c = store.lock("x", async () => void order.push("c"));
  controller.abort(new Error("gave up"));
  await expect(impatient).rejects.toThrow("gave up");
  holding.resolve();
  await Promise.all([a, c]);
  expect(order).toEqual(["a", "c"]);
});
