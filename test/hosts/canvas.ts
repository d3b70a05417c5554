import { createHumanPlus, type HumanPlus, type SurfaceSession, TrustPolicy } from "@human-plus/core";
import { startRelay } from "@human-plus/relay";
import { connectSurface, createInvitation, createSurface, type Surface } from "@human-plus/surface";
import { createSseTransport } from "@human-plus/transport-sse";

/** A relay and a canvas on it, for real. Its tools are those of the shared canvas, cut to what tests need. */
export interface Canvas extends AsyncDisposable {
  readonly surface: Surface;
  readonly cards: Map<string, { x: number }>;
  /** Titles that were written. */
  readonly titles: string[];
  personMoves(card: string, x: number): void;
  /** An agent's session of its own. */
  join(): Promise<SurfaceSession>;
  /** Takes the relay away. */
  fail(): Promise<void>;
}

export async function startCanvas(): Promise<Canvas> {
  const relay = await startRelay();
  const surface = createSurface({ id: "board", application: "canvas" });
  const cards = new Map([
    ["budget", { x: 0 }],
    ["travel", { x: 100 }],
  ]);
  const titles: string[] = [];
  surface.tool({
    name: "canvas_read",
    description: "All cards.",
    touches: "none",
    handler: () => ({ structuredContent: { cards: Object.fromEntries(cards) } }),
  });
  surface.tool({
    name: "canvas_move",
    description: "Moves a card.",
    inputSchema: { type: "object", required: ["card", "x"] },
    touches: ({ card }) => [String(card)],
    handler({ card, x }, call) {
      const handle = String(card);
      call.commit({ handle, kind: "moved" }, () => void cards.set(handle, { x: Number(x) }));
      return `moved ${handle}`;
    },
  });
  surface.tool({
    name: "canvas_rename",
    description: "Proposes a title.",
    stage: true,
    touches: ({ card }) => [String(card)],
    handler({ card, title }, call) {
      const handle = String(card);
      call.propose({ handle, kind: "updated" }, () => void titles.push(String(title)), { summary: "a title" });
      return "proposed";
    },
  });
  const invitation = createInvitation({ relayBaseUrl: relay.url, surfaceId: "board", application: "canvas" });
  const connection = connectSurface(surface, invitation);
  await connection.opened();
  const clients: HumanPlus[] = [];
  let running = true;
  const fail = async () => {
    if (!running) return;
    running = false;
    await connection.close();
    await relay.close();
  };
  return {
    surface,
    cards,
    titles,
    personMoves: (card, x) => surface.commit({ handle: card, kind: "moved" }, () => void cards.set(card, { x })),
    async join() {
      const client = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) });
      clients.push(client);
      return client.attach({
        owner: "me",
        invitation,
        participant: { name: "Tidy" },
        trust: TrustPolicy.everyTool(),
      });
    },
    fail,
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await fail();
      surface.close();
    },
  };
}
