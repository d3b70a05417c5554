import type { Deadline } from "./deadline.ts";
import { HumanPlusError } from "./error.ts";
import { limits, methods } from "./gen/constants.ts";
import { safeParseChangeFeedToolName, safeParseListToolsResult } from "./gen/parsers.ts";
import type { Tool } from "./gen/types.ts";
import type { McpSession } from "./mcp-session.ts";
import { createToolDefinition, type ToolDefinition } from "./tool-definition.ts";
import { refusalOf, type TrustPolicy } from "./trust-policy.ts";

/** The tools of a surface as one agent may use them. */
export interface Catalogue {
  /** Admitted tools, in the surface's order. */
  readonly tools: readonly ToolDefinition[];
  /** The change feed's name, where the surface offers one. */
  readonly changeFeed: { readonly name: string; readonly admitted: boolean } | undefined;
  /** How many tools were left out because they are not admitted. */
  readonly skipped: number;
  /** How many tools could not be read. */
  readonly unreadable: number;
  find(name: string): ToolDefinition | undefined;
}

/** Lists every tool, page by page and bounded. @throws HumanPlusError `catalogue_refused`, `surface_error` */
export async function listTools(
  session: McpSession,
  deadline: Deadline,
): Promise<{ tools: Tool[]; unreadable: number }> {
  const tools: Tool[] = [];
  let unreadable = 0;
  let cursor: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; page < limits.toolPages; page++) {
    const reply = await session.request(methods.listTools, cursor === undefined ? {} : { cursor }, deadline);
    if (!reply.ok) {
      const surface = { code: reply.error.code };
      throw new HumanPlusError("surface_error", "the surface refused to list its tools", {
        outcome: "not_applied",
        surface,
      });
    }
    const parsed = safeParseListToolsResult(reply.result);
    if (!parsed.ok)
      throw new HumanPlusError("catalogue_refused", "the surface's tool list cannot be read", {
        issues: parsed.issues,
      });
    if (parsed.notices.some(({ pointer }) => pointer === "/nextCursor" || pointer === "/tools")) {
      throw new HumanPlusError("catalogue_refused", "the surface's tool list is over its limits or no list", {
        issues: parsed.notices,
      });
    }
    tools.push(...parsed.value.tools);
    unreadable += parsed.value.unreadable;
    if (tools.length > limits.tools)
      throw new HumanPlusError("catalogue_refused", `the surface offers more than ${limits.tools} tools`);
    cursor = parsed.value.nextCursor;
    if (cursor === undefined) return { tools, unreadable };
    if (seen.has(cursor))
      throw new HumanPlusError("catalogue_refused", "the surface's tool list names the same next page twice");
    seen.add(cursor);
  }
  throw new HumanPlusError("catalogue_refused", `the surface's tool list has more than ${limits.toolPages} pages`);
}

/**
 * Admits what trust admits. A tool outside the allow-list is left out; one whose definition differs from its pin
 * refuses everything. Two tools of one name are both left out: nobody could say which one a call means. So is one that
 * cannot be pinned, because half a surrogate pair in it has no canonical form.
 *
 * @throws HumanPlusError `tool_definition_changed`
 */
export async function admitTools(tools: readonly Tool[], unreadable: number, trust: TrustPolicy): Promise<Catalogue> {
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const admitted = new Map<string, ToolDefinition>();
  let unpinnable = 0;
  for (const tool of tools) {
    if (counts.get(tool.name) !== 1 || refusalOf(trust, tool.name) !== undefined) continue;
    const definition = createToolDefinition(tool);
    if (await hasDigest(definition)) admitted.set(tool.name, definition);
    else unpinnable++;
  }
  await checkPins(admitted, trust);
  const feed = tools.find(({ name }) => safeParseChangeFeedToolName(name).ok)?.name;
  return {
    tools: [...admitted.values()],
    changeFeed: feed === undefined ? undefined : { name: feed, admitted: admitted.has(feed) },
    skipped: tools.length - admitted.size - unpinnable,
    unreadable: unreadable + unpinnable,
    find: (name) => admitted.get(name),
  };
}

async function hasDigest(definition: ToolDefinition): Promise<boolean> {
  return definition.digest().then(
    () => true,
    () => false,
  );
}

async function checkPins(admitted: ReadonlyMap<string, ToolDefinition>, trust: TrustPolicy): Promise<void> {
  if (trust.kind === "undeclared") return;
  for (const [name, pin] of Object.entries(trust.pins)) {
    const tool = admitted.get(name);
    if (tool !== undefined && (await tool.digest()) !== pin) {
      throw new HumanPlusError(
        "tool_definition_changed",
        `the surface defines ${name} otherwise than its pin says; none of its tools is used`,
      );
    }
  }
}
