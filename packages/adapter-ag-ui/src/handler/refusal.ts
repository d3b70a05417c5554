/** What all codes of the handler begin with, in bodies of refused requests and in `RUN_ERROR`. */
const prefix = "HUMAN_PLUS_AG_UI_";

/** Why a request was refused, or a run ended with an error. In answers they have the prefix `HUMAN_PLUS_AG_UI_`. */
export type FailureName =
  // Refused requests.
  | "METHOD"
  | "CONTENT_TYPE"
  | "INPUT"
  | "LIMIT"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "REPLAY"
  | "INTERNAL"
  | "TIMEOUT"
  | "SHUTDOWN"
  // Ends of runs; LIMIT, TIMEOUT, REPLAY and SHUTDOWN as well.
  | "RUN"
  | "EVENT"
  | "INCOMPLETE"
  | "OVERFLOW"
  | "STALLED"
  | "CANCELLED"
  | "RESUME";

export function codeOf(name: FailureName): string {
  return `${prefix}${name}`;
}

export interface AgUiRefusalOptions {
  /** @default by status: `UNAUTHORIZED`, `FORBIDDEN`, `LIMIT`, `INTERNAL`, else `INPUT`, after the prefix */
  code?: string | undefined;
  /** Sent along, such as `www-authenticate`. */
  headers?: Readonly<Record<string, string>> | undefined;
  cause?: unknown;
}

/** Refuses a request with a status of one's own, from `authorize`, `input.project` or `run`. The message goes to the client. */
export class AgUiRefusal extends Error {
  override readonly name = "AgUiRefusal";
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  /** @param status 400 to 599 */
  constructor(status: number, message: string, { code, headers = {}, ...options }: AgUiRefusalOptions = {}) {
    super(message, options);
    this.status = Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
    this.code = code ?? codeOf(names[this.status] ?? (this.status >= 500 ? "INTERNAL" : "INPUT"));
    this.headers = headers;
  }

  toResponse(): Response {
    return Response.json(
      { error: { code: this.code, message: this.message } },
      { status: this.status, headers: { ...this.headers, "cache-control": "no-store" } },
    );
  }
}

const names: Readonly<Record<number, FailureName>> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  405: "METHOD",
  408: "TIMEOUT",
  413: "LIMIT",
  415: "CONTENT_TYPE",
  504: "TIMEOUT",
};

export function badInput(message: string, cause?: unknown): AgUiRefusal {
  return new AgUiRefusal(400, message, cause === undefined ? {} : { cause });
}

export function invalid(what: string): AgUiRefusal {
  return badInput(`${what} is invalid`);
}

export function overLimit(what: string, limit: string): AgUiRefusal {
  return new AgUiRefusal(413, `${what} exceeds ${limit}`);
}

export function forbidden(message: string = "Forbidden"): AgUiRefusal {
  return new AgUiRefusal(403, message);
}
