import { createSurfaceToolset, type SurfaceToolset, type SurfaceToolsetOptions } from "@human-plus/adapter-prism";
import { type AttachOptions, createHumanPlus, type HumanPlus, TrustPolicy } from "@human-plus/core";
import { createLongPollTransport } from "@human-plus/transport-longpoll";
import { createSseTransport } from "@human-plus/transport-sse";
import type { AgentConfig } from "../host/agent.ts";
import type { AgentEvent } from "../host/events.ts";
import { createScriptedProvider, type ScriptedProvider, type ScriptedProviderOptions } from "../host/provider.ts";
import { type AgentSession, createAgentSession } from "../host/session.ts";

/** Both ways frames may travel; every rule holds over either. */
export const transports = [
  ["event streams", createSseTransport],
  ["long polls", createLongPollTransport],
] as const;

export interface PrismAgentOptions {
  /** A surface on a relay. */
  surface: { readonly invitation: AttachOptions["invitation"] };
  createTransport: (typeof transports)[number][1];
  /** What the model does, turn by turn. */
  steps: Parameters<typeof createScriptedProvider>[0];
  provider?: ScriptedProviderOptions;
  trust?: TrustPolicy;
  toolset?: Partial<SurfaceToolsetOptions>;
  /** Anything of the host's configuration; tools are the set's registry if nothing else is said. */
  config?: Partial<AgentConfig>;
}

/** An agent of the host with the tools of a surface: everything real but the model. */
export interface PrismAgent extends AsyncDisposable {
  readonly humanPlus: HumanPlus;
  readonly attachmentId: string;
  readonly toolset: SurfaceToolset;
  readonly provider: ScriptedProvider;
  readonly session: AgentSession;
  readonly config: AgentConfig;
  /** What the session said so far. */
  readonly events: AgentEvent[];
  /** Events of one type, in order. */
  of<T extends AgentEvent["type"]>(type: T): Extract<AgentEvent, { type: T }>[];
}

export async function startPrismAgent({
  surface,
  createTransport,
  steps,
  provider: providerOptions,
  trust = TrustPolicy.everyTool(),
  toolset: toolsetOptions = {},
  config: more = {},
}: PrismAgentOptions): Promise<PrismAgent> {
  const humanPlus = createHumanPlus({ transport: createTransport({ egress: { unverified: true } }) });
  const owner = "me";
  const { invitation } = surface;
  const { id: attachmentId } = await humanPlus.attach({ owner, invitation, participant: { name: "Tidy" }, trust });
  const toolset = await createSurfaceToolset({ humanPlus, owner, attachmentId, ...toolsetOptions });
  const provider = createScriptedProvider(steps, providerOptions);
  const config: AgentConfig = { provider, tools: toolset.registry(), ...more };
  const session = createAgentSession(config);
  const events: AgentEvent[] = [];
  const subscription = session.subscribe();
  const listening = (async () => {
    for await (const event of subscription) events.push(event);
  })();
  return {
    humanPlus,
    attachmentId,
    toolset,
    provider,
    session,
    config,
    events,
    of: (type) => events.filter((event): event is Extract<AgentEvent, { type: typeof type }> => event.type === type),
    async [Symbol.asyncDispose]() {
      await subscription.return?.();
      await listening;
      await toolset.close();
      await humanPlus.close();
    },
  };
}

/** One call of a tool of the surface `board`, as the model asks for it. */
export const call = (id: string, tool: string, args: object = {}) => ({
  id,
  name: `surface_board_${tool}`,
  arguments: args,
});
