import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import type * as parsers from "../src/gen/parsers.ts";
import * as schemas from "../src/gen/schemas.ts";
import type { ErrorResponse, Frame, JsonObject, Method, Notification, Request, Response } from "../src/gen/types.ts";

import { readExamples } from "./contract/example-files.ts";
import { parserOf } from "./contract/parser-table.ts";
import { definitions } from "./contract/plain-schema.ts";

const byName: Readonly<Record<string, TSchema>> = schemas;

describe("TypeBox schemas", () => {
  test("are there for every definition", () => {
    expect(Object.keys(byName).sort()).toEqual(Object.keys(definitions).sort());
  });

  test("accept what the parsers give for every valid example", () => {
    const refused = readExamples("valid").filter(({ definition, value }) => {
      const parsed = parserOf(definition).safeParse(value);
      return !parsed.ok || !Value.Check(byName[definition] as TSchema, parsed.value);
    });
    expect(refused.map(({ file }) => file)).toEqual([]);
  });

  test("refuse at least one invalid example of every definition", () => {
    const refused = readExamples("invalid").filter(
      ({ definition, value }) => !Value.Check(byName[definition] as TSchema, value),
    );
    expect(Object.keys(definitions).filter((name) => !refused.some(({ definition }) => definition === name))).toEqual(
      [],
    );
  });
});

// What follows is checked by `npm run types`.

type Schemas = typeof schemas;
type Parsers = typeof parsers;
type Name = keyof Schemas;

/** What the parser of a definition gives. */
type Parsed<N extends Name> = Parsers[`parse${N}` & keyof Parsers] extends (input: unknown) => infer T ? T : never;

/** TypeBox knows no `| undefined` on optional members; the generated types allow it for the sake of those who build values. */
type WithoutUndefined<T> =
  T extends Array<infer E>
    ? Array<WithoutUndefined<E>>
    : T extends object
      ? { [K in keyof T]: WithoutUndefined<Exclude<T[K], undefined>> }
      : T;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type Disagreeing = {
  [N in Name]: Schemas[N] extends TSchema
    ? Same<Static<Schemas[N]>, WithoutUndefined<Parsed<N>>> extends true
      ? never
      : N
    : N;
}[Name];

type Nothing<T extends never> = T;

/** The compiler names the definitions whose schema and type have parted. */
export type SchemasAgreeWithTypes = Nothing<Disagreeing>;

/** The compiler names the parsers whose definition has no schema. */
export type EveryParserHasASchema = Nothing<Exclude<keyof Parsers & `parse${string}`, `parse${Name}`>>;

// And the comparison can tell a difference.
export type ComparesMembers = Nothing<Exclude<Same<{ a: string }, { a: number }>, false>>;
export type ComparesOptional = Nothing<Exclude<Same<{ a: string }, { a?: string }>, false>>;

// A member that a frame must not have is there as undefined: so its value tells frames apart, and so does its absence.
export function byValue(frame: Frame): Request | Notification | Response | ErrorResponse {
  if (frame.method !== undefined) {
    if (frame.id !== undefined) return frame satisfies Request;
    return frame satisfies Notification;
  }
  if (frame.result !== undefined) return frame satisfies Response;
  return frame satisfies ErrorResponse;
}

export function byAbsence(frame: Frame): Request | Notification | Response | ErrorResponse {
  if (!("method" in frame)) {
    if (!("result" in frame)) return frame satisfies ErrorResponse;
    return frame satisfies Response | ErrorResponse;
  }
  if (!("id" in frame)) return frame satisfies Notification;
  return frame;
}

export function byKeyAndValue(frame: Frame): Method | JsonObject {
  if ("method" in frame && frame.method !== undefined) return frame.method;
  if ("result" in frame && frame.result !== undefined) return frame.result;
  return frame.error satisfies JsonObject;
}

// @ts-expect-error No frame is two at once.
export const both: Frame = { jsonrpc: "2.0", id: 1, method: "ping", result: {} };
