import {
  type HumanPlus,
  HumanPlusError,
  type OperationOptions,
  type ToolDefinition,
  type ToolPins,
} from "@human-plus/core";
import { safeParseChangeFeedToolName } from "@human-plus/core/protocol";
import type { ApprovalPolicy } from "./approval.ts";
import {
  assertCount,
  assertFlag,
  assertFunction,
  assertWord,
  attachmentChecks,
  type Checks,
  invalid,
  optional,
  requireFlag,
} from "./argument.ts";
import { builtinTools } from "./builtin-tools.ts";
import { closedError, createCallGate } from "./call-gate.ts";
import { describeTool } from "./description.ts";
import { type EffectPolicy, effectOf } from "./effect.ts";
import { assertPrefix, defaultPrefix, type Naming, nameTools } from "./names.ts";
import { type OfferedTool, surfaceCall } from "./offered-tool.ts";
import { cleanParameters } from "./parameters.ts";
import type { ToolAddress } from "./tool-address.ts";

export interface SurfaceToolsOptions {
  humanPlus: HumanPlus;
  /** Presented with every operation. */
  owner: string;
  /** Of `humanPlus.attach(...)`, with trust declared there. */
  attachmentId: string;
  /** Begins every name: at most 40 of `[A-Za-z0-9_-]`. @default `surface_<surfaceId>_` */
  prefix?: string | undefined;
  /** Names each tool of the surface, instead of prefix and tool. @default none */
  naming?: Naming | undefined;
  /** What the host knows of a tool's effect. Nothing remote has a part in it. @default every tool mutates, unsupported */
  effect?: EffectPolicy | undefined;
  /** Tools whose calls are dispatched one at a time. @default those whose effect is not `none` */
  exclusive?: boolean | ((address: ToolAddress) => boolean) | undefined;
  /** Tools that a person has to allow. @default none */
  approval?: ApprovalPolicy | undefined;
  /** Offer `<prefix>changes`, in place of the surface's own feed: what changed on the surface, and by whose hand. @default false */
  changes?: boolean | undefined;
  /** Offer `<prefix>announce`: tell people what the agent does. @default false */
  announce?: boolean | undefined;
  /** For one call, or one listing, in all, in milliseconds. @default 30_000 */
  timeoutMs?: number | undefined;
  /** End a call when a person acts on the surface while it runs. @default false */
  yieldToPerson?: boolean | undefined;
  /** What becomes of a call whose tool is no longer defined as the model was shown: refused, or made. @default "refuse" */
  redefined?: "refuse" | "call" | undefined;
  /** Characters of a tool's description that the model is shown. @default 4096 */
  maxDescriptionCharacters?: number | undefined;
}

/** The tools of one surface, listed once and again when somebody asks for it. */
export interface SurfaceTools {
  readonly surfaceId: string;
  /** By name. */
  readonly offered: readonly OfferedTool[];
  /** The surface's names by the host's; without tools of this package. */
  readonly names: ReadonlyMap<string, string>;
  readonly pins: ToolPins;
  readonly isStale: boolean;
  readonly disabled: HumanPlusError | undefined;
  readonly isClosed: boolean;
  refresh(options?: OperationOptions): Promise<void>;
  close(): Promise<void>;
}

type Listing = Pick<SurfaceTools, "surfaceId" | "offered" | "names" | "pins">;

/**
 * The options have been checked by then.
 *
 * @throws HumanPlusError what `HumanPlus.tools` throws, `invalid_argument` for what a policy gave, `catalogue_refused` for names that collide
 */
export async function openSurfaceTools(options: SurfaceToolsOptions): Promise<SurfaceTools> {
  const { humanPlus, owner, attachmentId, timeoutMs = 30_000 } = options;
  const gate = createCallGate();
  let isStale = false;
  const unsubscribe = humanPlus.on("catalogueChanged", (event) => {
    if (event.attachmentId === attachmentId) isStale = true;
  });

  /** A call found another definition. The set may be used on, unless a pin of the trust policy is broken. */
  const onRedefined = async (signal: AbortSignal) => {
    isStale = true;
    await humanPlus.tools(owner, attachmentId, { signal, timeoutMs }).catch(disableIfChanged);
  };
  const disableIfChanged = (error: unknown) => {
    if (error instanceof HumanPlusError && error.code === "tool_definition_changed") gate.disable(error);
  };

  const list = async (operation: OperationOptions): Promise<Listing> => {
    const { surfaceId, application } = await humanPlus.status(owner, attachmentId);
    const { prefix = defaultPrefix(surfaceId), changes = false, announce = false } = options;
    const builtin = builtinTools({
      humanPlus,
      owner,
      attachmentId,
      gate,
      surfaceId,
      prefix,
      timeoutMs,
      changes,
      announce,
    });
    const definitions = await humanPlus.tools(owner, attachmentId, { timeoutMs, ...operation, fresh: true });
    // Two tools that tell what changed would be one too many: a model takes either, and only one of them knows what it has read.
    const isOffered = ({ name }: ToolDefinition) => !changes || !safeParseChangeFeedToolName(name).ok;
    const nameOf = nameTools(
      definitions.filter(isOffered).map(({ name }) => name),
      { surfaceId, prefix, naming: options.naming, reserved: builtin.map(({ name }) => name) },
    );
    const pins: Record<string, string> = Object.create(null);
    const offered = [...builtin];
    for (const definition of definitions) {
      const digest = await definition.digest();
      pins[definition.name] = digest;
      const name = nameOf.get(definition.name);
      if (name !== undefined) offered.push(offer(definition, name, { surfaceId, application, digest }));
    }
    offered.sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = new Map([...nameOf].map(([tool, name]) => [name, tool] as const));
    return { surfaceId, offered: Object.freeze(offered), names, pins: Object.freeze(pins) };
  };

  const offer = (
    definition: ToolDefinition,
    name: string,
    shown: { surfaceId: string; application: string; digest: string },
  ): OfferedTool => {
    const { surfaceId, application } = shown;
    const {
      approval,
      exclusive,
      redefined = "refuse",
      yieldToPerson = false,
      maxDescriptionCharacters = 4096,
    } = options;
    const address: ToolAddress = Object.freeze({ surfaceId, tool: definition.name });
    const effect = effectOf(address, options.effect);
    const { schema, isOpen } = cleanParameters(definition.inputSchema);
    const source = { source: `${application}/${surfaceId}`, tool: definition.name };
    const digest = redefined === "refuse" ? shown.digest : undefined;
    const call = { humanPlus, owner, attachmentId, gate, address, digest, timeoutMs, yieldToPerson, onRedefined };
    return {
      name,
      address,
      description: describeTool(definition, { source, maxCharacters: maxDescriptionCharacters, isOpen }),
      parameters: schema,
      effect,
      isExclusive:
        typeof exclusive === "function"
          ? requireFlag("exclusive(...)", exclusive(address))
          : (exclusive ?? effect.kind !== "none"),
      needsApproval: approval !== undefined && requireFlag("approval(...)", approval(address)),
      run: surfaceCall(call),
    };
  };

  let listing: Listing;
  const relist = async (operation: OperationOptions): Promise<void> => {
    isStale = false;
    try {
      const listed = await list(operation);
      if (gate.isClosed) throw closedError();
      listing = listed;
      gate.enable();
    } catch (error) {
      isStale = true;
      disableIfChanged(error);
      throw error;
    }
  };
  try {
    await relist({});
  } catch (error) {
    unsubscribe();
    throw error;
  }

  let refreshing: Promise<unknown> = Promise.resolve();
  return {
    get surfaceId() {
      return listing.surfaceId;
    },
    get offered() {
      return listing.offered;
    },
    get names() {
      return listing.names;
    },
    get pins() {
      return listing.pins;
    },
    get isStale() {
      return isStale;
    },
    get disabled() {
      return gate.disabled;
    },
    get isClosed() {
      return gate.isClosed;
    },
    async refresh(operation = {}) {
      const before = refreshing;
      const mine = before.then(() => {
        if (gate.isClosed) throw closedError();
        return relist(operation);
      });
      refreshing = mine.catch(() => undefined);
      await mine;
    },
    async close() {
      unsubscribe();
      await gate.close();
    },
  };
}

export const surfaceToolsChecks: Checks<SurfaceToolsOptions> = {
  ...attachmentChecks,
  prefix: optional(assertPrefix),
  naming: optional(assertFunction),
  effect: optional(assertFunction),
  exclusive: optional((name, value) => {
    if (typeof value !== "boolean" && typeof value !== "function")
      throw invalid(name, "true, false or a function", value);
  }),
  approval: optional(assertFunction),
  changes: optional(assertFlag),
  announce: optional(assertFlag),
  timeoutMs: optional(assertCount),
  yieldToPerson: optional(assertFlag),
  redefined: optional(assertWord("refuse", "call")),
  maxDescriptionCharacters: optional(assertCount),
};
