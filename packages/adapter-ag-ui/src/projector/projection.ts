import type { ChangeRow, JsonObject } from "@human-plus/core";
import { refuseUnknown, requireOptions, requireType } from "../argument.ts";
import type { AgUiJson } from "../events.ts";
import type { SurfaceCall, SurfaceOccurrence, SurfaceParticipant } from "../feed/occurrence.ts";
import { plainText } from "../plain-text.ts";

type Of<T extends SurfaceOccurrence["type"]> = Extract<SurfaceOccurrence, { type: T }>;

/** What a projection lets out: plain JSON, or `undefined` for nothing. */
export type Projected = JsonObject | AgUiJson | undefined;

/**
 * What may leave in events: an allow-list of callbacks, none by default. Everything they get is somebody's private words or
 * untrusted text; what they give is shown to everybody who reads the thread. One that throws, or gives what is no JSON or is
 * over `maxDetailBytes`, lets nothing out.
 */
export interface SurfaceProjection {
  /** The member `arguments` of a call. */
  arguments?: ((call: SurfaceCall) => Projected) | undefined;
  /** The member `progress` of a call. Without it there are numbers and no words. */
  progress?: ((step: Of<"call_progress">) => Projected) | undefined;
  /** The member `result` of a call. */
  result?: ((finished: Of<"call_finished">) => Projected) | undefined;
  /** The member `refusal` of a call. Without it there are code and outcome. */
  refusal?: ((refused: Of<"call_refused">) => Projected) | undefined;
  /** One element of the member `rows`, of at most 20. Without it there are counts by hand. */
  change?: ((row: ChangeRow) => Projected) | undefined;
  /** The member `proposal`. Without it there are tool and standing. */
  proposal?: ((proposal: Of<"proposal">) => Projected) | undefined;
  /** The member `activity`. Without it there is a priority. */
  activity?: ((activity: Of<"activity">) => Projected) | undefined;
  /** The member `participant`: whose doing it was. */
  participant?: ((participant: SurfaceParticipant) => Projected) | undefined;
}

const callbackNames: ReadonlySet<string> = new Set<keyof SurfaceProjection>([
  "arguments",
  "progress",
  "result",
  "refusal",
  "change",
  "proposal",
  "activity",
  "participant",
]);

/** @throws HumanPlusError `invalid_argument`: a callback under a misspelt name would let nothing out, and nobody would know why */
export function requireProjection(projection: SurfaceProjection): void {
  requireOptions("projection", projection);
  for (const [name, callback] of Object.entries(projection)) {
    if (!callbackNames.has(name)) refuseUnknown("projection", { [name]: callback });
    requireType(`projection.${name}`, callback, "function");
  }
}

/** Calls a projection and takes what it gives as JSON of at most `maxBytes`; anything else is absent. */
export function project<T>(
  callback: ((value: T) => Projected) | undefined,
  value: T | undefined,
  maxBytes: number,
): AgUiJson | undefined {
  if (callback === undefined || value === undefined) return undefined;
  try {
    const given: unknown = callback(value);
    if (given instanceof Promise) {
      given.catch(() => undefined); // it would pass for {}, and nobody else hears how it fails
      return undefined;
    }
    const text = JSON.stringify(given);
    if (text === undefined || byteLength(text) > maxBytes) return undefined;
    return JSON.parse(text, (key, member: unknown) => {
      if (key === "__proto__") return undefined;
      return typeof member === "string" ? plainText(member) : member;
    }) as AgUiJson;
  } catch {
    return undefined;
  }
}

const encoder = new TextEncoder();

/** UTF-8 bytes. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}
