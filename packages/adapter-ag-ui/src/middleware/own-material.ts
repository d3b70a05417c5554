import type { RunAgentInput } from "@ag-ui/client";
import { type AgUiResumeEntry, agUiNames } from "../events.ts";
import { readAnswer } from "./proposal-desk.ts";

/** Begins the ids of interrupts of one surface. Names hold no colon. */
export function interruptPrefix(name: string): string {
  return `${agUiNames.id}proposal:${name}:`;
}

/** An input without what is meant for us, and that. The input itself is not touched. */
export interface OwnMaterial {
  readonly input: RunAgentInput;
  /** Answers to our interrupts, those that nobody waits for any more included. */
  readonly resume: readonly AgUiResumeEntry[];
  /** `forwardedProps.humanplus`, the member by the surface's name. */
  readonly props: unknown;
  /** Somebody else's interrupts are answered too. */
  readonly resumesOthers: boolean;
}

/** @param name of the surface */
export function takeOwnMaterial(input: RunAgentInput, name: string): OwnMaterial {
  const prefix = interruptPrefix(name);
  const entries = (input.resume ?? []) as readonly AgUiResumeEntry[];
  const isOurs = ({ interruptId }: AgUiResumeEntry) => String(interruptId).startsWith(prefix);
  const ours = entries.filter(isOurs);
  const others = entries.filter((entry) => !isOurs(entry));
  const { resume: _, ...rest } = input;
  const resume = others.length === 0 ? {} : { resume: others };
  const withoutResume = (ours.length === 0 ? input : { ...rest, ...resume }) as RunAgentInput;
  return { ...takeProps(withoutResume, name), resume: ours, resumesOthers: others.length > 0 };
}

function takeProps(input: RunAgentInput, name: string): { input: RunAgentInput; props: unknown } {
  const forwarded = asObject(input.forwardedProps);
  const all = asObject(forwarded?.[agUiNames.key]);
  if (forwarded === undefined || all === undefined || !Object.hasOwn(all, name)) return { input, props: undefined };
  const { [name]: props, ...ofOthers } = all;
  const { [agUiNames.key]: _, ...rest } = forwarded;
  const forwardedProps = Object.keys(ofOthers).length === 0 ? rest : { ...rest, [agUiNames.key]: ofOthers };
  return { input: { ...input, forwardedProps }, props };
}

/**
 * The answer of a host that resumes as older ones do, by `forwardedProps.command.resume`: taken for the one interrupt that
 * waits, and only if it reads as an answer to it.
 */
export function takeLegacyAnswer(
  input: RunAgentInput,
  interruptId: string,
): { readonly input: RunAgentInput; readonly entry: AgUiResumeEntry } | undefined {
  const forwarded = asObject(input.forwardedProps);
  const command = asObject(forwarded?.["command"]);
  if (forwarded === undefined || command === undefined || readAnswer(command["resume"]) === undefined) return undefined;
  const { resume: payload, ...others } = command;
  const { command: _, ...rest } = forwarded;
  const forwardedProps = Object.keys(others).length === 0 ? rest : { ...rest, command: others };
  return {
    input: { ...input, forwardedProps } as RunAgentInput,
    entry: { interruptId, status: "resolved", payload },
  };
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}
