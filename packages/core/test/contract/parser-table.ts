import * as generated from "../../src/gen/parsers.ts";
import type { Parsed } from "../../src/parse/issue.ts";
import { definitions } from "./plain-schema.ts";

/** Both parsers of one definition. */
export interface ParserPair {
  readonly name: string;
  readonly safeParse: (input: unknown) => Parsed<unknown>;
  readonly parse: (input: unknown) => unknown;
}

const functions = generated as unknown as Readonly<Record<string, unknown>>;

/** The parsers of every definition of the contract. */
export const parsers: readonly ParserPair[] = Object.keys(definitions).map(parserOf);

export function parserOf(name: string): ParserPair {
  const safeParse = functions[`safeParse${name}`];
  const parse = functions[`parse${name}`];
  if (typeof safeParse !== "function" || typeof parse !== "function") throw new Error(`${name} has no parsers`);
  return { name, safeParse: safeParse as ParserPair["safeParse"], parse: parse as ParserPair["parse"] };
}
