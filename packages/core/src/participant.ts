import { argument } from "./argument.ts";
import { safeParseActor } from "./gen/parsers.ts";

/** An agent as the people at a surface see it. */
export interface Participant {
  /** 1 to 128 visible ASCII characters. Surfaces tell agents apart by it; it is never shown to other agents. */
  readonly id: string;
  /** 1 to 128 characters. */
  readonly name: string;
  /** `#rgb` or `#rrggbb`. */
  readonly color: string | undefined;
}

export interface ParticipantOptions {
  /** The name people see. */
  name: string;
  /** Keep it to stay the same participant over several attachments. @default a random UUID */
  id?: string | undefined;
  /** The colour of its cursor, as `#rgb` or `#rrggbb`. @default the surface chooses */
  color?: string | undefined;
}

/** @throws HumanPlusError `invalid_argument` */
export function createParticipant({ name, id = crypto.randomUUID(), color }: ParticipantOptions): Participant {
  argument("participant", safeParseActor({ id, name, color, type: "agent" }));
  return Object.freeze({ id, name, color });
}
