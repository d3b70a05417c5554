/** Why there is no connection: a code, and nothing of what was connected to. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly code: string;

  constructor(code: ConnectErrorCode) {
    super(code);
    this.code = code;
  }
}

export type ConnectErrorCode =
  | "ADDRESS_REFUSED"
  | "TOO_MANY_ADDRESSES"
  | "ENOTFOUND"
  | "LOOKUP_FAILED"
  | "ECONNRESET"
  | "CLOSED"
  | "UND_ERR_CONNECT_TIMEOUT"
  | "PROXY_UNREACHABLE"
  | "PROXY_TLS"
  | "PROXY_NO_HTTP"
  | "PROXY_CLOSED"
  | "PROXY_SILENT"
  | `PROXY_ANSWERED_${number}`;
