import type { CheckpointStore } from "./checkpoints.ts";
import type { EffectStore } from "./effect-store.ts";
import type { Guardrail, Middleware, PermissionPolicy, ToolFilter, ToolValidator, TrustPolicy } from "./policies.ts";
import type { Provider } from "./provider.ts";
import type { Redactor } from "./redactor.ts";
import type { Identity, Ownership, Registry, Tool } from "./shapes.ts";

/** How an agent of this host is configured. */
export interface AgentConfig {
  /** @default "agent" */
  id?: string;
  provider: Provider;
  /** A registry is asked for its list when a run begins, and for a name whenever it is called. */
  tools: readonly Tool[] | Registry;
  instructions?: string;
  identity?: Identity;
  ownership?: Ownership;
  effectStore?: EffectStore;
  middleware?: Middleware;
  guardrails?: readonly Guardrail[];
  filters?: readonly ToolFilter[];
  trust?: TrustPolicy;
  permission?: PermissionPolicy;
  validator?: ToolValidator;
  redactor?: Redactor;
  metadata?: Record<string, unknown>;
  /** @default 32 calls, 8 rounds */
  limits?: { maxToolCalls?: number; maxToolRounds?: number };
  /** How many calls of one turn run at once, unless one of them is exclusive. @default 1 */
  toolConcurrency?: number;
  /** Makes runs durable: every call waits for a decision. */
  runState?: { checkpoints: CheckpointStore; definitionRevision: string; interruptBeforeTool?: boolean };
}
