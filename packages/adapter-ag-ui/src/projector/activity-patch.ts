import type { AgUiJson, AgUiPatchOperation } from "../events.ts";
import type { SurfaceActivity } from "./surface-log.ts";

type Members = Readonly<Record<string, AgUiJson>>;

/** From one content to the next, at `root`: member by member, and entry by entry. Their keys need no escape in a pointer. */
export function activityPatch(before: SurfaceActivity, after: SurfaceActivity, root = ""): AgUiPatchOperation[] {
  const { entries: oldEntries, ...old } = before;
  const { entries, ...now } = after;
  return [
    ...memberPatch(old as unknown as Members, now as unknown as Members, root),
    ...memberPatch(oldEntries, entries, `${root}/entries`),
  ];
}

function memberPatch(before: Members, after: Members, root: string): AgUiPatchOperation[] {
  const operations: AgUiPatchOperation[] = [];
  for (const key of Object.keys(before)) if (!(key in after)) operations.push({ op: "remove", path: `${root}/${key}` });
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    const path = `${root}/${key}`;
    if (old === undefined) operations.push({ op: "add", path, value });
    else if (old !== value && JSON.stringify(old) !== JSON.stringify(value))
      operations.push({ op: "replace", path, value });
  }
  return operations;
}
