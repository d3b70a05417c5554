import { createHumanPlus, type RelayTransport, type SurfaceEvents, TrustPolicy } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "./parts/live-canvas.ts";
import { transports } from "./transports/parts/transports.ts";

async function join(canvas: LiveCanvas, transport: RelayTransport) {
  const client = createHumanPlus({ transport });
  const ends: SurfaceEvents["attachmentEnded"][] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.on("attachmentEnded", (end) => {
    ends.push(end);
    resolve();
  });
  const session = await client.attach({
    owner: "me",
    invitation: canvas.invitation,
    participant: { name: "Tidy" },
    trust: TrustPolicy.everyTool(),
  });
  return { client, session, ends, ended };
}

describe.each(Object.entries(transports))("over %s", (_, open) => {
  test("the end of a surface is told once to whoever watches, without a call", async () => {
    await using canvas = await startLiveCanvas();
    await using transport = open();
    const { session, ends, ended } = await join(canvas, transport);
    await session.call("canvas_read");
    const release = await session.watch();
    await canvas.connection.close();
    await ended;
    await expect(session.call("canvas_read")).rejects.toMatchObject({ code: "surface_unavailable" });
    expect(await session.status()).toMatchObject({ state: "surface_unavailable" });
    expect(ends).toEqual([{ attachmentId: session.id, state: "surface_unavailable" }]);
    release();
  });

  test("the end of a surface is told once when a call finds it out", async () => {
    await using canvas = await startLiveCanvas();
    await using transport = open({ idleLegMs: 0 });
    const { session, ends } = await join(canvas, transport);
    await session.call("canvas_read");
    await canvas.connection.close();
    await expect(session.call("canvas_read")).rejects.toMatchObject({ code: "surface_unavailable" });
    await expect(session.call("canvas_read")).rejects.toMatchObject({ code: "surface_unavailable" });
    expect(ends).toEqual([{ attachmentId: session.id, state: "surface_unavailable" }]);
  });
});

test("what a host learned elsewhere is told too, and leaving is no end to tell", async () => {
  await using canvas = await startLiveCanvas();
  await using transport = (transports["event stream"] as (typeof transports)[string])();
  const { client, session, ends } = await join(canvas, transport);
  await session.call("canvas_read");
  await session.markUnauthorized();
  const other = await client.attach({
    owner: "me",
    invitation: canvas.invitation,
    participant: { name: "Tidy" },
    trust: TrustPolicy.everyTool(),
  });
  await other.call("canvas_read");
  await other.detach();
  expect(ends).toEqual([{ attachmentId: session.id, state: "attachment_unauthorized" }]);
});
