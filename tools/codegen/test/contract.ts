import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type JsonObject, RELAY_FILE, SURFACE_FILE } from "../src/load.ts";

const root = join(import.meta.dirname, "../../..");

export const specDirectory = join(root, "spec");

/** A node of the contract as tests reach into it: wrong ways end in a TypeError, and so in a failing test. */
// biome-ignore lint/suspicious/noExplicitAny: tests write what no type of the contract would let them
export type Loose = any;

/** A change to make to a contract. */
export interface Edit {
  readonly surface?: (definitions: Loose, document: Loose) => void;
  readonly relay?: (document: Loose) => void;
}

/** A folder that goes away at the end of its scope. */
export function scratchDirectory(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "human-plus-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Copies the contract into a folder, without its examples. */
export function copyContract(directory: string): void {
  for (const file of [SURFACE_FILE, RELAY_FILE]) cpSync(join(specDirectory, file), join(directory, file));
}

/** Edits a contract on disk. */
export function editContract(directory: string, { surface, relay }: Edit): void {
  if (surface !== undefined) {
    const document = JSON.parse(readFileSync(join(directory, SURFACE_FILE), "utf8"));
    surface(document.definitions, document);
    writeFileSync(join(directory, SURFACE_FILE), JSON.stringify(document, undefined, 2));
  }
  if (relay !== undefined) {
    const document = parse(readFileSync(join(directory, RELAY_FILE), "utf8")) as JsonObject;
    relay(document);
    writeFileSync(join(directory, RELAY_FILE), stringify(document, { aliasDuplicateObjects: false }));
  }
}
