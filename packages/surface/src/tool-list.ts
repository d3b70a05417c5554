import {
  type ChangeFeedToolName,
  isToolName,
  type JsonObject,
  limits,
  type Tool,
  utf8Length,
} from "@human-plus/core/protocol";
import type { ToolOptions, WritingTool } from "./tool.ts";

/** The change feed, which every surface has. PROTOCOL.md section 6. */
export const FEED_TOOL: WritingTool<never> = {
  name: "changes_since" satisfies ChangeFeedToolName,
  description:
    "What changed on this surface since a revision, by whose hand. Without `since`: everything it still knows.",
  inputSchema: { type: "object", properties: { since: { type: "string" } } },
  touches: "none",
  handler: () => undefined,
};

export interface ToolList {
  /** @throws TypeError for a name that agents may not call, that is taken, or a definition that is too large */
  add(tool: ToolOptions<never>): () => void;
  get(name: string): ToolOptions<never> | undefined;
  /** One page, `undefined` for a cursor that is not of this list. */
  page(cursor: string | undefined): { tools: Tool[]; nextCursor?: string } | undefined;
}

const PAGE_BYTES = limits.frameBytes / 2;

/** @param onChange the list is another one now */
export function createToolList(onChange: () => void): ToolList {
  const tools = new Map<string, { tool: ToolOptions<never>; listed: Tool; bytes: number }>();
  let version = 0;

  /** Where the page that starts at `from` ends. */
  function pageEnd(all: readonly { bytes: number }[], from: number): number {
    let end = from;
    let bytes = 0;
    while (end < all.length && (end === from || bytes + (all[end]?.bytes ?? 0) <= PAGE_BYTES))
      bytes += all[end++]?.bytes ?? 0;
    return end;
  }

  function changed(): void {
    version++;
    onChange();
  }

  return {
    add(tool) {
      const { name, title, description, inputSchema = { type: "object" } satisfies JsonObject, annotations } = tool;
      const listed: Tool = { name, title, description, inputSchema, annotations };
      const bytes = utf8Length(JSON.stringify(listed));
      if (!isToolName(name)) throw new TypeError(`agents may not call a tool of the name ${name}`);
      if (tools.has(name)) throw new TypeError(`there is already a tool ${name}`);
      if (bytes > PAGE_BYTES || utf8Length(description ?? "") > limits.descriptionBytes || tools.size >= limits.tools)
        throw new TypeError(`${name} is too large, or one tool too many`);
      const entry = { tool, listed, bytes };
      tools.set(name, entry);
      changed();
      return () => {
        if (tools.get(name) !== entry) return;
        tools.delete(name);
        changed();
      };
    },
    get: (name) => tools.get(name)?.tool,
    page(cursor = `${version}.0`) {
      const [of, start] = cursor.split(".").map(Number);
      const all = [...tools.values()];
      if (of !== version || start === undefined || !(start >= 0)) return undefined;
      const end = pageEnd(all, start);
      return {
        tools: all.slice(start, end).map(({ listed }) => listed),
        ...(end < all.length && { nextCursor: `${version}.${end}` }),
      };
    },
  };
}
