import type { ErrorInfo } from "./shapes.ts";

/** An error of the host. Which one it is says its code, or its name where the host gives none. */
export class HostError extends Error {
  readonly code: string | undefined;

  constructor(name: string, message: string, code?: string) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/** A run that failed or was aborted: what `run` and `stream` throw. */
export class AgentRunError extends Error {
  override readonly name = "AgentRunError";
  readonly status: "failed" | "aborted";

  constructor(status: "failed" | "aborted", { cause }: { cause: unknown }) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.status = status;
  }
}

export const effectError = (code: "REQUIRED" | "CONFLICT" | "UNKNOWN" | "COMPLETED" | "LIMIT", message: string) =>
  new HostError("ToolEffectError", message, `ERR_PRISM_TOOL_EFFECT_${code}`);

export const decisionError = (
  code: "STALE" | "UNKNOWN" | "DUPLICATE" | "SCOPE" | "INVALID" | "LIMIT",
  message: string,
) => new HostError("AgentDecisionError", message, `ERR_PRISM_DECISION_${code}`);

export const runStateError = (message: string) =>
  new HostError("AgentRunStateError", message, "ERR_PRISM_AGENT_RUN_STATE");

export const runLimitError = (limit: string) => new HostError("RunLimitError", `the run is over its limit ${limit}`);

export const suspension = () =>
  new HostError("AgentRunSuspendedError", "the run is suspended", "ERR_PRISM_AGENT_RUN_SUSPENDED");

/** What ends the run wherever it is thrown. A tool that throws one of these codes by accident ends the run as well. */
export function endsRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "RunLimitError" || error.name === "GuardrailError") return true;
  const code = "code" in error ? String(error.code) : "";
  return (
    ["ERR_PRISM_AGENT_RUN_SUSPENDED", "ERR_PRISM_DELEGATION_SUSPENDED"].includes(code) ||
    code.startsWith("ERR_PRISM_LOOP_")
  );
}

/** What a tool threw, as its result says it. */
export function toErrorInfo(thrown: unknown): ErrorInfo {
  if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown) };
  const { code, retryAfterMs } = thrown as { code?: unknown; retryAfterMs?: unknown };
  const info: ErrorInfo = { name: thrown.name, message: thrown.message };
  if (typeof code === "string" || typeof code === "number") info.code = code;
  if (typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs) && retryAfterMs >= 0)
    info.retryAfterMs = retryAfterMs;
  if (thrown.cause !== undefined) info.cause = String(thrown.cause);
  return info;
}
