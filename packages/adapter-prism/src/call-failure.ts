import { HumanPlusError, type Outcome } from "@human-plus/core";
import { boundText, utf8Bytes } from "./bounded-text.ts";
import { plainText } from "./plain-text.ts";

/** Leaves name and code their place within the 8 KiB that hosts take of an error. */
const MAX_MESSAGE_BYTES = 7680;

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  not_applied: "Outcome: not_applied. The surface did not carry out this call.",
  applied: "Outcome: applied. The surface carried out this call: do not repeat it.",
  unknown:
    "Outcome: unknown. Whether the surface carried out this call cannot be told: do not repeat it; read the surface before you decide what to do.",
};

/**
 * A failure as a model has to read it: what it says, what became of the call, at most 7,680 bytes. It has no cause, since
 * the host would hand that on to the model as text.
 */
export function readableFailure(error: unknown): HumanPlusError {
  const { code, message, outcome, retryable, retryAfterMs, issues, surface } = known(error);
  const words = [OUTCOME_WORDS[outcome], ...(retryable ? ["The same call may be made again later."] : [])].join(" ");
  const bounded = boundText(plainText(message), MAX_MESSAGE_BYTES - utf8Bytes(words) - 1);
  return new HumanPlusError(code, `${bounded}\n${words}`, { outcome, retryable, retryAfterMs, issues, surface });
}

/** What is no error of the SDK came from a part that a host gave it: its words may hold anything, and are not handed on. */
function known(error: unknown): HumanPlusError {
  if (error instanceof HumanPlusError) return error;
  return new HumanPlusError("relay_failed", "the call broke off inside the agent's own program", {
    outcome: "unknown",
  });
}
