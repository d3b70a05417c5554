import { errorTable } from "./gen/errors.ts";
import type { ChangeRow, ErrorCode, Outcome } from "./gen/types.ts";
import type { Issue } from "./parse/issue.ts";

/** What a surface said of a call that it refused. Untrusted, and bounded. */
export interface SurfaceError {
  /** The code of its JSON-RPC error, as text. */
  readonly code: string;
  /** Its message, framed as data. */
  readonly message?: string | undefined;
  /** For `surface_changed_under_you`: what changed, where the surface says so. */
  readonly changes?: readonly ChangeRow[] | undefined;
}

export interface HumanPlusErrorOptions {
  /** What became of the call. @default the first outcome that the contract names for the code */
  outcome?: Outcome | undefined;
  /** Whether the same call may be made again as it is. @default what the contract says of the code */
  retryable?: boolean | undefined;
  /** How long to wait before trying again, in milliseconds, where the other end said so. */
  retryAfterMs?: number | undefined;
  /** The places that break the contract, for `malformed_message`, `invalid_argument` and `invalid_invitation`. @default [] */
  issues?: readonly Issue[] | undefined;
  /** What the surface said, for `surface_error` and `surface_changed_under_you`. */
  surface?: SurfaceError | undefined;
  /** What caused it. It must hold no token and no URL that holds one. */
  cause?: unknown;
}

/** The one error of this SDK. Branch on `code`; the message is for people. PROTOCOL.md section 3 lists the codes. */
export class HumanPlusError extends Error {
  override readonly name = "HumanPlusError";
  readonly code: ErrorCode;
  /** What became of the call: `not_applied`, `unknown` or `applied`. */
  readonly outcome: Outcome;
  /** Whether the same call may be made again as it is. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly issues: readonly Issue[];
  readonly surface: SurfaceError | undefined;

  constructor(code: ErrorCode, message: string, options: HumanPlusErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    const [outcome] = errorTable[code].outcome;
    this.code = code;
    this.outcome = options.outcome ?? outcome;
    this.retryable = options.retryable ?? errorTable[code].retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.issues = options.issues ?? [];
    this.surface = options.surface;
  }
}
