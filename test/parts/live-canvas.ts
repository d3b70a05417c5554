import {
  type AttachOptions,
  createHumanPlus,
  type HumanPlus,
  type HumanPlusOptions,
  type SurfaceSession,
  TrustPolicy,
} from "@human-plus/core";
import { type RunningRelay, startRelay } from "@human-plus/relay";
import {
  connectSurface,
  createInvitation,
  createSurface,
  type Surface,
  type SurfaceConnection,
} from "@human-plus/surface";
import { createSseTransport } from "@human-plus/transport-sse";

export interface Card {
  title: string;
  x: number;
  y: number;
}

/** A relay and a canvas on it, for real, with agents that join on demand. */
export interface LiveCanvas extends AsyncDisposable {
  readonly relay: RunningRelay;
  readonly surface: Surface;
  readonly connection: SurfaceConnection;
  readonly invitation: ReturnType<typeof createInvitation>;
  readonly cards: Map<string, Card>;
  /** A person moves a card. */
  personMoves(handle: string, x: number, y: number): void;
  /** A client of its own, closed with the canvas. */
  createClient(options?: Partial<HumanPlusOptions>): HumanPlus;
  join(options?: Partial<AttachOptions>): Promise<SurfaceSession>;
}

export async function startLiveCanvas(): Promise<LiveCanvas> {
  const relay = await startRelay();
  const surface = createSurface({ id: "board", application: "canvas" });
  const cards = new Map<string, Card>([
    ["budget", { title: "Budget", x: 0, y: 0 }],
    ["travel", { title: "Travel", x: 100, y: 0 }],
  ]);
  surface.tool({
    name: "canvas_read",
    description: "All cards.",
    touches: "none",
    handler: () => ({ structuredContent: { cards: Object.fromEntries(cards) } }),
  });
  surface.tool({
    name: "canvas_move",
    description: "Moves a card.",
    inputSchema: { type: "object", required: ["card", "x", "y"] },
    touches: ({ card }) => [String(card)],
    handler: ({ card, x, y }, call) => {
      const handle = String(card);
      call.commit({ handle, kind: "moved" }, () => {
        Object.assign(cards.get(handle) as Card, { x, y });
      });
      return `moved ${handle}`;
    },
  });
  const invitation = createInvitation({ relayBaseUrl: relay.url, surfaceId: "board", application: "canvas" });
  const connection = connectSurface(surface, invitation);
  await connection.opened();
  const clients: HumanPlus[] = [];
  const createClient = (options: Partial<HumanPlusOptions> = {}) => {
    const client = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }), ...options });
    clients.push(client);
    return client;
  };
  return {
    relay,
    surface,
    connection,
    invitation,
    cards,
    personMoves(handle, x, y) {
      surface.commit({ handle, kind: "moved" }, () => void Object.assign(cards.get(handle) as Card, { x, y }));
    },
    createClient,
    join: (options = {}) =>
      createClient().attach({
        owner: "me",
        invitation,
        participant: { name: "Tidy" },
        trust: TrustPolicy.everyTool(),
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await connection.close();
      surface.close();
      await relay.close();
    },
  };
}
