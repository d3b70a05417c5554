import { isObject, type JsonObjectLike } from "../bounded-json.ts";

/** Gives what a member holds, or `undefined` if that is not what it should be. */
export type Reader<C = unknown> = (value: unknown, context: C) => unknown;

/** What reads each member. One whose name ends with `?` may be absent, and counts as absent if it is not what it should be. */
export type Members<C = unknown> = Readonly<Record<string, Reader<C>>>;

/** @returns the members that there are, or the name of the first that is missing */
export function readMembers<C>(source: JsonObjectLike, members: Members<C>, context: C): JsonObjectLike | string {
  const found: Record<string, unknown> = {};
  for (const [name, reader] of Object.entries(members)) {
    const key = name.replace("?", "");
    const value = reader(source[key], context);
    if (value !== undefined) found[key] = value;
    else if (key === name) return key;
  }
  return found;
}

export const any: Reader = (value) => value;

export const text: Reader = (value) => (typeof value === "string" ? value : undefined);

/** What there is of an object's members; nothing if one is missing that must be there. */
export function shape(members: Members): Reader {
  return (value) => {
    const found = isObject(value) ? readMembers(value, members, undefined) : undefined;
    return typeof found === "string" ? undefined : found;
  };
}

export function or(reader: Reader, otherwise: unknown): Reader {
  return (value, context) => reader(value, context) ?? otherwise;
}
