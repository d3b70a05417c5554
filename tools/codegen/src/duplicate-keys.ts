import { isMap, isPair, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { pointerTo } from "./problem.ts";

/** Pointers of keys that stand twice in one object. `JSON.parse` would keep the last and say nothing. */
export function findDuplicateKeys(text: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown, keys: string[]): void => {
    if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        if (!isPair(pair)) continue;
        const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
        if (seen.has(key)) found.push(pointerTo(...keys, key));
        seen.add(key);
        visit(pair.value, [...keys, key]);
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) visit(item as Node, [...keys, String(index)]);
    }
  };
  // JSON is YAML, and this reader keeps both of two equal keys.
  visit(parseDocument(text, { uniqueKeys: false, schema: "json" }).contents, []);
  return found;
}
