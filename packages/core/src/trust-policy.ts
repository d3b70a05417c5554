import { argument, invalidArgument } from "./argument.ts";
import { safeParseToolName, safeParseToolPin } from "./gen/parsers.ts";

/** Which tools of a surface an agent may call. Plain data: it is stored with the attachment. */
export type TrustPolicy =
  | { readonly kind: "undeclared" }
  | { readonly kind: "allowing"; readonly tools: readonly string[]; readonly pins: ToolPins }
  | { readonly kind: "every-tool"; readonly pins: ToolPins };

/** Digests by tool name: a tool whose definition has another one refuses the whole discovery. */
export type ToolPins = Readonly<Record<string, string>>;

export interface TrustOptions {
  /** `ToolDefinition.digest()` by tool name. @default {} */
  pins?: ToolPins | undefined;
}

/** Trust is declared by the owner of the agent, before a byte reaches the surface. PROTOCOL.md section 7. */
export const TrustPolicy = {
  /** Nothing may be sent. The default of every attachment. */
  undeclared: Object.freeze({ kind: "undeclared" }) as TrustPolicy,

  /** These tools and no other. An empty list refuses every call. @throws HumanPlusError `invalid_argument` */
  allowing(tools: readonly string[], { pins = {} }: TrustOptions = {}): TrustPolicy {
    if (!Array.isArray(tools)) throw invalidArgument("tools should be a list of tool names");
    const names = tools.map((name, index) => argument(`tools[${index}]`, safeParseToolName(name)));
    return Object.freeze({ kind: "allowing", tools: Object.freeze([...new Set(names)]), pins: checkedPins(pins) });
  },

  /** Every tool the surface offers, but for those that are reserved for people. @throws HumanPlusError `invalid_argument` */
  everyTool({ pins = {} }: TrustOptions = {}): TrustPolicy {
    return Object.freeze({ kind: "every-tool", pins: checkedPins(pins) });
  },
};

function checkedPins(pins: ToolPins): ToolPins {
  const checked: Record<string, string> = Object.create(null);
  for (const [name, pin] of Object.entries(pins)) {
    checked[argument("pins", safeParseToolName(name))] = argument(`pins.${name}`, safeParseToolPin(pin));
  }
  return Object.freeze(checked);
}

/** Whether a policy lets anything be sent at all. */
export function isDeclared(trust: TrustPolicy): boolean {
  return trust.kind === "every-tool" || (trust.kind === "allowing" && trust.tools.length > 0);
}

/** Why a tool may not be called, in words for a model; nothing where it may. The name is not quoted: it may be the surface's. */
export function refusalOf(trust: TrustPolicy, name: unknown): string | undefined {
  const parsed = safeParseToolName(name);
  if (!parsed.ok) {
    const reserved = parsed.issues.some(({ rule }) => rule === "x-reserved-endings");
    return reserved
      ? "this tool is reserved: confirming, rejecting, accepting, approving and denying belong to people"
      : "this is no usable tool name";
  }
  switch (trust.kind) {
    case "undeclared":
      return "no trust is declared for this surface";
    case "allowing":
      return trust.tools.includes(parsed.value)
        ? undefined
        : "this tool is not on the list of tools this agent may call";
    case "every-tool":
      return undefined;
    default:
      return trust satisfies never;
  }
}
