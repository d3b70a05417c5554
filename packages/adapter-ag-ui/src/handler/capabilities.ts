import { invalidArgument } from "../argument.ts";
import { isObject } from "../bounded-json.ts";
import { valueAt } from "./option-shapes.ts";

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

/** The options that make a claim true, any of them. None does so for what no handler of HTTP requests, or none of ours, can do. */
const needs: ReadonlyArray<readonly [claim: string, ...options: string[]]> = [
  ["transport.websocket"],
  ["transport.httpBinary"], // protobuf is for clients that ask for it by name, and its encoder may be missing
  ["transport.pushNotifications"],
  ["transport.resumable", "replay"],
  ["tools.clientProvided", "input.frontendTools"],
  ["state.snapshots", "projection.stateSnapshot", "projection.open"],
  ["state.deltas", "projection.stateDelta", "projection.open"],
  ["reasoning", "projection.reasoning"],
  ["multimodal.input", "input.project"],
  ["humanInTheLoop.approveWithEdits"],
  ["humanInTheLoop", "interrupts"],
];

/**
 * The declaration, narrowed to what the handler can do.
 *
 * @throws HumanPlusError `invalid_argument` that names what it cannot do
 */
export function resolveCapabilities(options: {
  readonly capabilities?: AgentCapabilities | undefined;
  readonly replay?: unknown;
}): AgentCapabilities {
  const { capabilities: declared = {} } = options;
  for (const [claim, ...makers] of needs) {
    const claimed = truePath(valueAt(declared, claim), claim);
    if (claimed === undefined || makers.some((option) => valueAt(options, option) !== undefined)) continue;
    throw invalidArgument(
      `capabilities.${claimed} is not true${makers.length > 0 ? ` without ${makers[0]}` : " here"}`,
    );
  }
  const { transport, humanInTheLoop, ...others } = declared;
  return {
    ...others,
    transport: { ...transport, streaming: true, resumable: valueAt(options, "replay") !== undefined },
    ...(humanInTheLoop === undefined ? {} : { humanInTheLoop: { ...humanInTheLoop, approveWithEdits: false } }),
  };
}

/** Where something is said to be so, there or anywhere below. */
function truePath(value: unknown, path: string): string | undefined {
  if (value === true) return path;
  if (!isObject(value)) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = truePath(member, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
