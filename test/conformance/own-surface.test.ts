import type { AddressInfo } from "node:net";
import { checkSurface, reportToTable, transportNames } from "@human-plus/conformance";
import { createBroker, createFetchHandler, startRelay } from "@human-plus/relay";
import { connectSurface, createInvitation, createSurface, type Surface } from "@human-plus/surface";
import { describe, expect, test } from "vitest";
import { createFetchServer } from "../transports/parts/fetch-server.ts";

interface Bound extends AsyncDisposable {
  readonly url: string;
}

const bindings: Readonly<Record<string, () => Promise<Bound>>> = {
  "node:http": () => startRelay(),
  async fetch() {
    const broker = createBroker();
    const server = createFetchServer(createFetchHandler(broker));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent-relay`,
      async [Symbol.asyncDispose]() {
        broker.close();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
};

/** A board whose writes are slow: they wait between what they check and what they write. */
function createBoard(): { surface: Surface; act: (act: "change" | "delete") => void } {
  const surface = createSurface({ id: "board", application: "board" });
  const cards = new Map<string, number>([["budget", 0]]);
  surface.tool({
    name: "board_read",
    touches: "none",
    async handler(_args, call) {
      call.progress(1, { total: 2 });
      call.progress(2, { total: 2 });
      return { structuredContent: { cards: [...cards] } };
    },
  });
  surface.tool<{ card: string; x: number }>({
    name: "board_move",
    touches: ({ card }) => [card],
    async handler({ card, x }, call) {
      await new Promise((resolve) => setImmediate(resolve));
      call.commit({ handle: card, kind: "moved" }, () => cards.set(card, x));
      return "moved";
    },
  });
  surface.commit({ handle: "budget", kind: "created", label: "Budget" }, () => undefined);
  return {
    surface,
    act(act) {
      const isChange = act === "change";
      surface.commit({ handle: "travel", kind: isChange ? "created" : "deleted" }, () => {
        if (isChange) cards.set("travel", 0);
        else cards.delete("travel");
      });
    },
  };
}

describe.each(Object.entries(bindings))("over the relay of %s", (_name, start) => {
  test.each(transportNames)("our surface holds the contract over %s, and leaves nothing unseen", async (transport) => {
    await using relay = await start();
    const { surface, act } = createBoard();
    const invitation = createInvitation({ relayBaseUrl: relay.url, surfaceId: "board", application: "board" });
    await using connection = connectSurface(surface, invitation);
    await connection.opened();
    const report = await checkSurface(invitation, {
      local: true,
      transport,
      read: { name: "board_read", args: {} },
      observe: { timeoutMs: 10_000, act },
      probeWrite: { name: "board_move", args: { card: "budget", x: 7 } },
    });
    surface.close();
    expect(report.counts, reportToTable(report)).toMatchObject({ doesNotHold: 0, unseen: 0 });
  });
});
