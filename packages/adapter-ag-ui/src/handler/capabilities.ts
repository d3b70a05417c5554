import { describeValue, invalidArgument } from "../argument.ts";
import type { Projection } from "../projection.ts";
import { isObject, type JsonObjectLike } from "./bounded-json.ts";

/** What an agent says of itself, as AG-UI groups it. What is left out is not said. */
export interface AgentCapabilities {
  readonly identity?: Readonly<Record<string, unknown>> | undefined;
  readonly transport?: Readonly<Record<string, unknown>> | undefined;
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  readonly output?: Readonly<Record<string, unknown>> | undefined;
  readonly state?: Readonly<Record<string, unknown>> | undefined;
  readonly multiAgent?: Readonly<Record<string, unknown>> | undefined;
  readonly reasoning?: Readonly<Record<string, unknown>> | undefined;
  readonly multimodal?: Readonly<Record<string, unknown>> | undefined;
  readonly execution?: Readonly<Record<string, unknown>> | undefined;
  readonly humanInTheLoop?: Readonly<Record<string, unknown>> | undefined;
  readonly custom?: Readonly<Record<string, unknown>> | undefined;
}

/** What a handler can do, by its options. */
export interface Ability {
  readonly replay: boolean;
  readonly frontendTools: boolean;
  readonly project: boolean;
  readonly interrupts: boolean;
  readonly projection: Projection;
}

const groups: ReadonlySet<string> = new Set([
  "identity",
  "transport",
  "tools",
  "output",
  "state",
  "multiAgent",
  "reasoning",
  "multimodal",
  "execution",
  "humanInTheLoop",
  "custom",
]);

/**
 * The declaration, narrowed to what the handler can do.
 *
 * @throws HumanPlusError `invalid_argument` that names what it cannot do
 */
export function resolveCapabilities(declared: AgentCapabilities, ability: Ability): AgentCapabilities {
  assertGroups(declared);
  for (const [path, reason] of falseClaims(ability))
    if (claims(declared as JsonObjectLike, path)) throw refused(path, reason);
  if (!ability.projection.reasoning)
    for (const [flag, value] of Object.entries(declared.reasoning ?? {}))
      if (value === true) throw refused(`reasoning.${flag}`, "there is no projection.reasoning");
  const { transport, humanInTheLoop, ...others } = declared;
  return {
    ...others,
    transport: { ...transport, streaming: true, resumable: ability.replay },
    ...(humanInTheLoop === undefined ? {} : { humanInTheLoop: { ...humanInTheLoop, approveWithEdits: false } }),
  };
}

function assertGroups(declared: unknown): void {
  if (!isObject(declared))
    throw invalidArgument(`capabilities should be an object of groups, is ${describeValue(declared)}`);
  for (const [name, group] of Object.entries(declared)) {
    if (!groups.has(name)) throw invalidArgument(`capabilities.${name.slice(0, 64)} is no group of capabilities`);
    if (group !== undefined && !isObject(group))
      throw invalidArgument(`capabilities.${name} should be an object, is ${describeValue(group)}`);
  }
}

/** Everything that these options do not make true. */
function falseClaims({ replay, frontendTools, project, interrupts, projection }: Ability): Array<[string, string]> {
  const { stateSnapshot, stateDelta, open } = projection;
  const claimed: Array<[path: string, isTrue: boolean, reason: string]> = [
    ["transport.websocket", false, "this is a handler of HTTP requests"],
    ["transport.httpBinary", false, "protobuf is for clients that ask for it by name, and may be missing"],
    ["transport.pushNotifications", false, "this is a handler of HTTP requests"],
    ["transport.resumable", replay, "there is no replay"],
    ["tools.clientProvided", frontendTools, "there is no input.frontendTools"],
    ["state.snapshots", stateSnapshot !== undefined || open !== undefined, "there is no projection.stateSnapshot"],
    ["state.deltas", stateDelta !== undefined || open !== undefined, "there is no projection.stateDelta"],
    ["multimodal.input", project, "there is no input.project"],
    ["humanInTheLoop.approveWithEdits", false, "edits are denied"],
    ["humanInTheLoop.supported", interrupts, "there are no interrupts"],
    ["humanInTheLoop.interrupts", interrupts, "there are no interrupts"],
    ["humanInTheLoop.approvals", interrupts, "there are no interrupts"],
    ["humanInTheLoop.interventions", interrupts, "there are no interrupts"],
  ];
  return claimed.filter(([, isTrue]) => !isTrue).map(([path, , reason]) => [path, reason]);
}

/** Whether something is said to be so, there or anywhere below. */
function claims(declared: JsonObjectLike, path: string): boolean {
  let value: unknown = declared;
  for (const key of path.split(".")) value = isObject(value) ? value[key] : undefined;
  return isTrueAnywhere(value);
}

function isTrueAnywhere(value: unknown): boolean {
  return value === true || (isObject(value) && Object.values(value).some(isTrueAnywhere));
}

function refused(path: string, reason: string): Error {
  return invalidArgument(`capabilities.${path} is not true: ${reason}`);
}
