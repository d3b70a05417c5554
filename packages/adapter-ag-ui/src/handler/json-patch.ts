import type { AgUiJson, AgUiPatchOperation } from "../events.ts";
import { isObject, type JsonBounds, toJson } from "./bounded-json.ts";

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

/** The document after a patch, or `undefined` if the patch does not apply: clients keep the old one then, and warn. */
export function applyPatch(document: AgUiJson, patch: readonly AgUiPatchOperation[]): AgUiJson | undefined {
  const root: { value: AgUiJson | undefined } = { value: structuredClone(document) };
  for (const operation of patch) if (!applyOperation(root, operation)) return undefined;
  return root.value;
}

type Root = { value: AgUiJson | undefined };

function applyOperation(root: Root, operation: AgUiPatchOperation): boolean {
  const { op, path } = operation;
  switch (op) {
    case "add":
      return add(root, path, structuredClone(operation.value));
    case "replace":
      return get(root, path) !== undefined && put(root, path, structuredClone(operation.value));
    case "test":
      return isSame(get(root, path), operation.value);
    case "remove":
      return remove(root, path) !== undefined;
    case "move": {
      if (path.startsWith(`${operation.from}/`)) return false;
      const moved = remove(root, operation.from);
      return moved !== undefined && add(root, path, moved);
    }
    case "copy": {
      const copied = get(root, operation.from);
      return copied !== undefined && add(root, path, structuredClone(copied));
    }
    default:
      return operation satisfies never;
  }
}

type Container = AgUiJson[] | Record<string, AgUiJson>;

/** What holds the value that a pointer means, and its key there. */
function locate(root: Root, path: string): { container: Container; key: string } | undefined {
  const keys = path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  let value = root.value;
  for (const key of keys) value = memberOf(value, key);
  if (last === undefined || typeof value !== "object" || value === null) return undefined;
  return { container: value as Container, key: last };
}

function memberOf(value: unknown, key: string): AgUiJson | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? (value as AgUiJson[])[Number(key)] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? (value[key] as AgUiJson) : undefined;
}

function get(root: Root, path: string): AgUiJson | undefined {
  if (path === "") return root.value;
  const place = locate(root, path);
  return place === undefined ? undefined : memberOf(place.container, place.key);
}

function put(root: Root, path: string, value: AgUiJson): boolean {
  if (path === "") {
    root.value = value;
    return true;
  }
  const place = locate(root, path);
  if (place === undefined) return false;
  (place.container as Record<string, AgUiJson>)[place.key] = value;
  return true;
}

function add(root: Root, path: string, value: AgUiJson): boolean {
  const place = locate(root, path);
  if (place === undefined || !Array.isArray(place.container)) return put(root, path, value);
  const { container, key } = place;
  const at = key === "-" ? container.length : /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : -1;
  if (at < 0 || at > container.length) return false;
  container.splice(at, 0, value);
  return true;
}

function remove(root: Root, path: string): AgUiJson | undefined {
  const place = locate(root, path);
  if (place === undefined) return undefined; // the whole document: clients differ in what is left
  const { container, key } = place;
  const value = memberOf(container, key);
  if (value === undefined) return undefined;
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
  return value;
}

function isSame(left: AgUiJson | undefined, right: AgUiJson): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right))
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item: AgUiJson, index) => isSame(item, right[index] as AgUiJson))
    );
  const [before, after] = [left, right] as [Record<string, AgUiJson>, Record<string, AgUiJson>];
  const keys = Object.keys(before);
  return (
    keys.length === Object.keys(after).length &&
    keys.every((key) => Object.hasOwn(after, key) && isSame(before[key], after[key] as AgUiJson))
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
