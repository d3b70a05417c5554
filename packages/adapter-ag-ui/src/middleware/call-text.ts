import { type CallResult, HumanPlusError, type Outcome } from "@human-plus/core";

/** A result as the model reads it: the surface's words in core's frame, everything else in ours. */
export function resultText({ text, notices, isError, parts }: CallResult): string {
  const lines = isError ? ["The tool says that it failed."] : [];
  lines.push(text, ...notices.map((notice) => `Note: ${notice}`));
  if (parts.length > 0) lines.push(`Note: ${parts.length} part(s) of the result are no text and are not shown.`);
  return lines.join("\n");
}

const outcomeWords: Readonly<Record<Outcome, string>> = {
  not_applied: "Nothing was written.",
  unknown:
    "What became of the call is not known: it may have been carried out. Read the surface before you decide what to do, and do not simply repeat the call.",
  applied: "The call was carried out, but there is no result to show.",
};

/** A refusal or failure as the model reads it: what became of the call comes first. */
export function failureText(tool: string, error: unknown): string {
  if (!(error instanceof HumanPlusError))
    return `The call of ${tool} failed here, for a reason that is not the surface's. ${outcomeWords.unknown}`;
  const { code, outcome, message, surface, retryable } = error;
  const lines = [`The call of ${tool} did not succeed (${code}, ${outcome}). ${outcomeWords[outcome]}`, message];
  if (surface?.message !== undefined) lines.push(surface.message);
  if (retryable) lines.push("The same call may be made again later.");
  return lines.join("\n");
}

export const texts = {
  badArguments: (tool: string) =>
    `${tool} was not called: its arguments are no JSON object, or too long. Nothing was written. Give a JSON object.`,
  budget: (maxIterations: number) =>
    `The call was not made: this run has used its ${maxIterations} rounds of calls. Nothing was written. Say to the person where you stand; you can go on in the next run.`,
  tooMany: (maxCalls: number) =>
    `The call was not made: no more than ${maxCalls} calls of the surface are made in one round. Nothing was written. If it is still needed, make it again after you have read the answers to the others.`,
  notOffered: (name: string) =>
    `The call was not made: the surface offers no tool ${JSON.stringify(name.slice(0, 64))} in this run, whatever was offered earlier. Nothing was written.`,
  runFailed: "The call was not made: the run failed before it. Nothing was written.",
  lost: "There is no result of this call here: the run that made it ended before one came. What became of it is not known. Read the surface before you decide what to do.",
  underWay:
    "This call is being made in another run, and was not made again. What became of it is not known here. Read the surface before you decide what to do.",
  madeBefore:
    "This call was made before and was not made again, and its answer is not kept any more. Read the surface to see what it did.",
  personActed: "Note: a person acted on the surface while you worked. Read what you work on before you write.",
} as const;
