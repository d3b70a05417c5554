import { isObject, type JsonBounds, toJson } from "./bounded-json.ts";
import type { AgUiJson, AgUiPatchOperation } from "./events.ts";

const MAX_POINTER_BYTES = 4_096;
const MAX_PATCH_BYTES = 1_048_576;

/** A patch of RFC 6902, or `undefined` if one operation is none: then nothing of it would apply. */
export function readPatch(
  value: unknown,
  maxOperations: number,
  bounds: JsonBounds,
): readonly AgUiPatchOperation[] | undefined {
  if (!Array.isArray(value) || value.length > maxOperations) return undefined;
  const operations = value.map((operation) => readOperation(operation, bounds));
  return operations.every((operation) => operation !== undefined) ? operations : undefined;
}

function readOperation(value: unknown, bounds: JsonBounds): AgUiPatchOperation | undefined {
  if (!isObject(value) || !isPointer(value["path"])) return undefined;
  const { op, path, from } = value;
  switch (op) {
    case "add":
    case "replace":
    case "test": {
      const json = toJson(value["value"], MAX_PATCH_BYTES, bounds);
      return json === undefined ? undefined : { op, path, value: json };
    }
    case "remove":
      return { op, path };
    case "move":
    case "copy":
      return isPointer(from) ? { op, from, path } : undefined;
    default:
      return undefined;
  }
}

/** RFC 6901, without what could reach behind a document. */
function isPointer(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= MAX_POINTER_BYTES &&
    /^(?:\/(?:[^~/\0\r\n]|~[01])*)*$/.test(value) &&
    !/\/(?:__proto__|prototype|constructor)(?:\/|$)/.test(value)
  );
}

// By hand, since a package that refuses what the clients' own refuses weighs more than the handler has left of its bound.
// A property test holds this against the clients' own.

/** The document after a patch, or `undefined` if the patch does not apply: clients keep the old one then, and warn. */
export function applyPatch(document: AgUiJson, patch: readonly AgUiPatchOperation[]): AgUiJson | undefined {
  const root: Root = { "": structuredClone(document) };
  return patch.every((operation) => applyOperation(root, operation)) ? root[""] : undefined;
}

/** Holds the document where a pointer looks for it: the keys of each pointer begin with an empty one. */
type Root = { "": AgUiJson };

function applyOperation(root: Root, operation: AgUiPatchOperation): boolean {
  const { op, path } = operation;
  switch (op) {
    case "add":
      return add(root, path, operation.value);
    case "replace": {
      const place = locate(root, path);
      if (place?.value === undefined) return false;
      place.container[place.key] = structuredClone(operation.value);
      return true;
    }
    case "test":
      return isSame(locate(root, path)?.value, operation.value);
    case "remove":
      return remove(root, path) !== undefined;
    case "move":
      return !path.startsWith(`${operation.from}/`) && add(root, path, remove(root, operation.from));
    case "copy":
      return add(root, path, locate(root, operation.from)?.value);
    default:
      return operation satisfies never;
  }
}

type Members = Record<string, AgUiJson>;

interface Place {
  /** What holds the value, a list too. */
  readonly container: Members;
  readonly key: string;
  readonly value: AgUiJson | undefined;
}

/** Where a pointer leads, if there is something to hold a value. */
function locate(root: Root, path: string): Place | undefined {
  const keys = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = keys.pop() as string;
  const container = keys.reduce<AgUiJson | undefined>(memberOf, root);
  if (typeof container !== "object" || container === null) return undefined;
  return { container: container as Members, key, value: memberOf(container, key) };
}

const isIndex = (key: string) => /^(?:0|[1-9]\d*)$/.test(key);

function memberOf(value: unknown, key: string): AgUiJson | undefined {
  const holds = Array.isArray(value) ? isIndex(key) : isObject(value);
  return holds && Object.hasOwn(value as Members, key) ? (value as Members)[key] : undefined;
}

function add(root: Root, path: string, value: AgUiJson | undefined): boolean {
  const place = locate(root, path);
  if (place === undefined || value === undefined) return false;
  const { container, key } = place;
  const added = structuredClone(value);
  if (!Array.isArray(container)) {
    container[key] = added;
    return true;
  }
  const at = key === "-" ? container.length : isIndex(key) ? Number(key) : -1;
  if (at < 0 || at > container.length) return false;
  container.splice(at, 0, added);
  return true;
}

function remove(root: Root, path: string): AgUiJson | undefined {
  const place = locate(root, path);
  // Of the whole document clients differ in what is left.
  if (place?.value === undefined || path === "") return undefined;
  const { container, key, value } = place;
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
  return value;
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [before, after] = [left, right] as [Members, Members];
  const keys = Object.keys(before);
  return (
    keys.length === Object.keys(after).length &&
    keys.every((key) => Object.hasOwn(after, key) && isSame(before[key], after[key]))
  );
}

/** The fewest operations by member that lead from one document to another. Lists are replaced whole. */
export function diffJson(before: AgUiJson, after: AgUiJson, path = ""): AgUiPatchOperation[] {
  if (isSame(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ op: "replace", path, value: after }];
  const at = (key: string) => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const operations: AgUiPatchOperation[] = [];
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) operations.push({ op: "remove", path: at(key) });
  for (const [key, value] of Object.entries(after as Readonly<Record<string, AgUiJson>>)) {
    const old = Object.hasOwn(before, key) ? (before[key] as AgUiJson) : undefined;
    if (old === undefined) operations.push({ op: "add", path: at(key), value });
    else operations.push(...diffJson(old, value, at(key)));
  }
  return operations;
}
