import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { $RefParser } from "@apidevtools/json-schema-ref-parser";
import { parse as parseYaml } from "yaml";
import { findDuplicateKeys } from "./duplicate-keys.ts";
import { type Problem, pointerTo, SpecError } from "./problem.ts";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** The contract as it was written, once the official parser and the reference resolver had no complaint. */
export interface Spec {
  readonly surface: JsonObject;
  readonly relay: JsonObject;
}

export const SURFACE_FILE = "surface.schema.json";
export const RELAY_FILE = "relay.asyncapi.yaml";

/** Reads spec/. @throws SpecError with file and pointer of every problem */
export async function loadSpec(directory: string): Promise<Spec> {
  const surfacePath = resolve(directory, SURFACE_FILE);
  const relayPath = resolve(directory, RELAY_FILE);
  const [surfaceText, relayText] = await Promise.all([readFile(surfacePath, "utf8"), readFile(relayPath, "utf8")]);
  const duplicates = [...duplicateProblems(SURFACE_FILE, surfaceText), ...duplicateProblems(RELAY_FILE, relayText)];
  if (duplicates.length > 0) throw new SpecError(duplicates);
  const surface = parsed(SURFACE_FILE, () => JSON.parse(surfaceText));
  const relay = parsed(RELAY_FILE, () => parseYaml(relayText, { uniqueKeys: true }));

  const problems = [
    ...(await referenceProblems(SURFACE_FILE, surface, surfacePath)),
    ...(await referenceProblems(RELAY_FILE, relay, relayPath)),
  ];
  if (problems.length > 0) throw new SpecError(problems);
  return { surface, relay };
}

function duplicateProblems(file: string, text: string): Problem[] {
  return findDuplicateKeys(text).map((pointer) => ({ file, pointer, message: "this name stands twice" }));
}

function parsed(file: string, parse: () => unknown): JsonObject {
  try {
    return parse() as JsonObject;
  } catch (cause) {
    throw new SpecError([{ file, pointer: "", message: cause instanceof Error ? cause.message : String(cause) }], {
      cause,
    });
  }
}

async function referenceProblems(file: string, document: JsonObject, path: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  const parser = new $RefParser();
  const refs = await parser.resolve(path, structuredClone(document), {});
  for (const { pointer, ref } of references(document)) {
    try {
      refs.get(
        ref.startsWith("#")
          ? `${path}${ref}`
          : new URL(ref, `file://${path}`).pathname + new URL(ref, `file://${path}`).hash,
      );
    } catch {
      problems.push({ file, pointer, message: `$ref to ${ref}, which does not exist` });
    }
  }
  for (const cycle of cycles(document)) problems.push({ file, ...cycle });
  return problems;
}

function* references(value: Json, keys: Array<string | number> = []): Generator<{ pointer: string; ref: string }> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "$ref" && typeof member === "string") yield { pointer: pointerTo(...keys, key), ref: member };
    else yield* references(member, [...keys, key]);
  }
}

/** Cycles among `definitions`: the contract has none, so that every type is finite and every parser ends. */
function cycles(document: JsonObject): Array<Omit<Problem, "file">> {
  const definitions = (document["definitions"] ?? {}) as JsonObject;
  const edges = new Map<string, string[]>();
  for (const [name, schema] of Object.entries(definitions)) {
    edges.set(
      name,
      [...references(schema)].map(({ ref }) => ref.replace("#/definitions/", "")),
    );
  }
  const found: Array<Omit<Problem, "file">> = [];
  const done = new Set<string>();
  const visit = (name: string, path: string[]): void => {
    if (path.includes(name)) {
      const loop = [...path.slice(path.indexOf(name)), name].join(" -> ");
      found.push({ pointer: pointerTo("definitions", name), message: `cyclic $ref: ${loop}` });
      return;
    }
    if (done.has(name)) return;
    for (const next of edges.get(name) ?? []) visit(next, [...path, name]);
    done.add(name);
  };
  for (const name of edges.keys()) visit(name, []);
  return found;
}
