import { type Frame, jsonRpcVersion, limits } from "@human-plus/core/protocol";

/** A request with an id that nobody guesses. */
export function createRequest(method: string = "conformance/question"): Frame & { id: string } {
  return { jsonrpc: jsonRpcVersion, id: crypto.randomUUID(), method, params: {} };
}

export function createReply(id: string | number): Frame & { id: string | number } {
  return { jsonrpc: jsonRpcVersion, id, result: { answered: crypto.randomUUID() } };
}

/** A notification that can be told from all others. */
export function createNotification(): Frame & { method: string } {
  return { jsonrpc: jsonRpcVersion, method: `notifications/conformance/${crypto.randomUUID()}`, params: {} };
}

/** A notification whose JSON text has so many bytes. */
export function createLargeFrame(bytes: number = limits.frameBytes): string {
  const empty = JSON.stringify({ ...createNotification(), params: { filler: "" } });
  return empty.replace('"filler":""', `"filler":"${"x".repeat(bytes - empty.length)}"`);
}
