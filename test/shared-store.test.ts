import { type AttachmentRow, type LockOptions, MemoryAttachmentStore, TrustPolicy } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { type Answering, startScriptedSurface } from "./parts/scripted-surface.ts";

const joining = { owner: "me", participant: { name: "Tidy" }, trust: TrustPolicy.everyTool() };

/** A store over a network: what it does may wait, and may fail. */
class RemoteStore extends MemoryAttachmentStore {
  /** Asked before each row is written. */
  beforePut: (row: AttachmentRow) => Promise<void> | void = () => undefined;
  beforeGet: () => void = () => undefined;
  afterLock: () => void = () => undefined;

  override async get(id: string): Promise<AttachmentRow | undefined> {
    this.beforeGet();
    return super.get(id);
  }

  override async put(row: AttachmentRow, expectedGeneration?: number): Promise<void> {
    await this.beforePut(row);
    return super.put(row, expectedGeneration);
  }

  override async lock<T>(id: string, task: () => Promise<T>, options?: LockOptions): Promise<T> {
    const value = await super.lock(id, task, options);
    this.afterLock();
    return value;
  }
}

const down = () => {
  throw new Error("the database is down");
};

/** Reads give a marker; what is pinned to one is answered otherwise. */
const answering =
  (pinned: object = { result: { content: [], revision: "r2" } }): Answering =>
  ({ method, params }) => {
    if (method !== "tools/call") return undefined;
    const { revision } = (params as { _meta: { revision?: string } })._meta;
    return revision === undefined ? { result: { content: [], revision: "r1" } } : (pinned as { result: object });
  };

/** Resolves when a row is about to be written, which then waits. */
function holdNextPut(store: RemoteStore, isIt: (row: AttachmentRow) => boolean) {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  store.beforePut = (row) => {
    if (!isIt(row)) return undefined;
    reached.resolve();
    return gate.promise;
  };
  return { reached: reached.promise, release: () => gate.resolve() };
}

describe("an attachment that was left while a row of it was being written", () => {
  test("sends nothing any more, although the call had not been made yet", async () => {
    await using surface = await startScriptedSurface(answering());
    const store = new RemoteStore();
    const agent = await surface.createClient({ store }).attach({ ...joining, invitation: surface.invitation });
    const put = holdNextPut(store, ({ changeFeed, state }) => changeFeed !== "not_observed" && state === "attached");
    const call = agent.call("write").catch((error: unknown) => error);
    await put.reached;
    await agent.detach();
    put.release();
    expect(await call).toMatchObject({ code: "attachment_conflict", outcome: "not_applied" });
    expect(surface.frames.map(({ method }) => method)).not.toContain("tools/call");
    expect(await agent.status()).toMatchObject({ state: "detached" });
  });

  test.each(["detached", "surface_unavailable"] as const)("by another worker stays %s", async (state) => {
    await using surface = await startScriptedSurface(answering());
    const store = new RemoteStore();
    const agent = await surface.createClient({ store }).attach({ ...joining, invitation: surface.invitation });
    const put = holdNextPut(store, ({ revision, state }) => revision !== undefined && state === "attached");
    const call = agent.call("read");
    await put.reached;
    const other = surface.createClient({ store }).session("me", agent.id);
    await (state === "detached" ? other.detach() : other.markUnavailable());
    put.release();
    expect(await call).toMatchObject({ revision: "r1" });
    expect(await agent.status()).toMatchObject({ state });
    await expect(agent.call("read")).rejects.toMatchObject({ outcome: "not_applied" });
  });

  test("is left once, by however many workers at a time", async () => {
    await using surface = await startScriptedSurface(answering());
    const store = new RemoteStore();
    const { id } = await surface.createClient({ store }).attach({ ...joining, invitation: surface.invitation });
    const put = holdNextPut(store, ({ state }) => state === "detached");
    const leaving = [1, 2].map(() => surface.createClient({ store }).detach("me", id));
    await put.reached;
    put.release();
    await Promise.all(leaving);
    expect(await store.get(id)).toMatchObject({ state: "detached" });
  });
});

describe("a store that fails", () => {
  test("does not hide that the surface refused a call", async () => {
    await using surface = await startScriptedSurface(answering({ error: { code: 409, message: "no" } }));
    const store = new RemoteStore();
    const agent = await surface.createClient({ store }).attach({ ...joining, invitation: surface.invitation });
    await agent.call("read");
    store.beforePut = down;
    const refused = { code: "surface_changed_under_you", outcome: "not_applied" };
    await expect(agent.call("write")).rejects.toMatchObject(refused);
    await expect(agent.call("write")).rejects.toMatchObject(refused); // pinned to what was refused, so refused again
  });

  test("does not hide that a call was carried out, nor that the surface is gone", async () => {
    await using surface = await startScriptedSurface(answering());
    const store = new RemoteStore();
    const agent = await surface.createClient({ store }).attach({ ...joining, invitation: surface.invitation });
    store.afterLock = down;
    expect(await agent.call("write")).toMatchObject({ isError: false, revision: "r1" });
    store.afterLock = () => undefined;
    await surface.relay.broker.unregister({ session: surface.invitation.sessionId, token: surface.invitation.token });
    store.beforePut = down;
    await expect(agent.call("write")).rejects.toMatchObject({ code: "surface_unavailable" });
  });
});

test("closing a client ends its waiting for what another worker holds", async () => {
  await using surface = await startScriptedSurface(answering());
  const store = new RemoteStore();
  const client = surface.createClient({ store });
  const agent = await client.attach({ ...joining, invitation: surface.invitation });
  const otherWorker = Promise.withResolvers<void>();
  const lease = store.lock(agent.id, () => otherWorker.promise);
  const locking = Promise.withResolvers<void>();
  const { lock } = store;
  store.lock = (...args) => {
    locking.resolve();
    return lock.apply(store, args) as never;
  };
  const call = agent.call("write", {}, { timeoutMs: 600_000 }).catch((error: unknown) => error);
  await locking.promise;
  await client.close();
  expect(await call).toMatchObject({ code: "closed", outcome: "not_applied" });
  otherWorker.resolve();
  await lease;
});
