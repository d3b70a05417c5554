import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpAgent, type Interrupt, type RunAgentParameters } from "@ag-ui/client";
import { nodeListener } from "@human-plus/adapter-ag-ui/handler";
import { startRelay } from "@human-plus/relay";
import { connectSurface, createInvitation, createSurface, type Surface, toShareLink } from "@human-plus/surface";
import { type Canvas, createCanvas } from "../../../shared-canvas/src/page/canvas.ts";
import { type CanvasStore, createCanvasStore } from "../../../shared-canvas/src/page/canvas-store.ts";
import { offerCanvasTools } from "../../../shared-canvas/src/page/canvas-tools.ts";
import { firstCards } from "../../../shared-canvas/src/page/first-cards.ts";
import { createEndpoint } from "../../src/agent/endpoint.ts";
import type { CallTool } from "../../src/agent/next-move.ts";

/** The canvas of the demo on a real relay, the endpoint on a real socket, and a client. */
export interface Talk extends AsyncDisposable {
  readonly surface: Surface;
  readonly store: CanvasStore;
  /** What the person does. */
  readonly canvas: Canvas;
  readonly url: string;
  readonly faults: readonly unknown[];
  /** What happens between the agent's telling of a move and the move. */
  interfere: (move: CallTool) => void | Promise<void>;
  /** Asks, and gives what the agent said, or the interrupts that it waits at. */
  ask(text: string): Promise<Answer>;
  resume(entries: NonNullable<RunAgentParameters["resume"]>): Promise<Answer>;
  /** The page goes away, or comes back. */
  closePage(): Promise<void>;
  openPage(): Promise<void>;
}

interface Answer {
  readonly text: string;
  readonly interrupts: readonly Interrupt[];
}

export const origin = "http://127.0.0.1:4000";

export async function startTalk(): Promise<Talk> {
  await using stack = new AsyncDisposableStack();
  const relay = await startRelay();
  stack.defer(() => relay.close());
  const store = createCanvasStore(firstCards);
  const surface = createSurface({ id: "surface", application: "shared-canvas", coalesceChanges: true });
  offerCanvasTools({ store, surface });
  const invitation = createInvitation({ relayBaseUrl: relay.url, surfaceId: "surface", application: "shared-canvas" });
  let connection = connectSurface(surface, invitation);
  stack.defer(() => connection[Symbol.asyncDispose]());
  await connection.opened();

  const faults: unknown[] = [];
  const endpoint = stack.use(
    createEndpoint({
      shareLink: toShareLink(invitation),
      origin,
      beforeMove: async (move) => talk.interfere(move),
      onError: (error) => faults.push(error),
    }),
  );
  const server = createServer(nodeListener(endpoint.handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const agent = new HttpAgent({ url, headers: { origin } });

  async function run(parameters: RunAgentParameters): Promise<Answer> {
    const { newMessages } = await agent.runAgent(parameters);
    const texts = newMessages.map(({ role, content }) => (role === "assistant" ? content : undefined));
    return { text: texts.filter(Boolean).join("\n"), interrupts: agent.pendingInterrupts };
  }

  const parts = stack.move();
  const talk: Talk = {
    surface,
    store,
    canvas: createCanvas({ store, surface }),
    url,
    faults,
    interfere: () => undefined,
    ask(text) {
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
      return run({});
    },
    resume: (resume) => run({ resume }),
    closePage: async () => connection[Symbol.asyncDispose](),
    async openPage() {
      connection = connectSurface(surface, invitation);
      await connection.opened();
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
  return talk;
}
