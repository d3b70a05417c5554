import type { JsonObject } from "@human-plus/core/protocol";
import type { Answer } from "../http-client.ts";

/** The relay took what it was given. */
export function isAccepted({ status, body }: Pick<Answer, "status" | "body">): boolean {
  return (status === 200 || status === 202) && memberOf(body, "ok") === true;
}

/** The code of a refusal, as JSON or as an event stream has it. */
export function codeOf({ body }: Pick<Answer, "body">): unknown {
  return memberOf(body, "error") ?? /^data: ?(\S+)$/m.exec(body)?.[1];
}

function memberOf(body: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as JsonObject)[name] : undefined;
  } catch {
    return undefined;
  }
}
