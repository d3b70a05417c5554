/** How a call of a tool ended, as the words that a model reads begin with it. */
export type CallEnd =
  | { readonly state: "done" }
  /** The tool itself said no: nothing else is wrong. */
  | { readonly state: "declined" }
  | { readonly state: "refused" | "failed"; readonly code: string };

/** Reads how a call ended. What a surface says stands in a frame further down, so it cannot pass for this. */
export function callEnd(answer: string): CallEnd {
  if (answer.startsWith("The tool says that it failed.\n")) return { state: "declined" };
  const [, code, outcome] = /^The call of \S+ did not succeed \((\w+), (\w+)\)/.exec(answer) ?? [];
  if (code !== undefined) return { state: outcome === "not_applied" ? "refused" : "failed", code };
  return /^(The call (of|was not)|There is no result of this call|\S+ was not called)/.test(answer)
    ? { state: "failed", code: "not_made" }
    : { state: "done" };
}

/** How a proposal ended, if the answer to its call says so. */
export type ProposalEnd = "accepted" | "rejected" | "expired" | "stale";

export function proposalEnd(answer: string): ProposalEnd | undefined {
  if (answer.startsWith("A person accepted the proposal, and it was written.")) return "accepted";
  if (answer.startsWith("A person accepted the proposal, but")) return "stale";
  if (answer.startsWith("A person rejected the proposal.")) return "rejected";
  return answer.startsWith("Nobody decided about the proposal in time.") ? "expired" : undefined;
}
