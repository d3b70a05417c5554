import { HumanPlusError } from "./error.ts";
import { limits } from "./gen/constants.ts";
import { safeParseCallToolResult, safeParseResultMeta } from "./gen/parsers.ts";
import type {
  AudioContent,
  ContentPart,
  EmbeddedResource,
  ImageContent,
  JsonObject,
  ProposalReceipt,
  ResourceLink,
} from "./gen/types.ts";
import type { ResultGuard, TextSource } from "./result-guard.ts";

/** A part of a result that is no text. Words in it (names, addresses) are the surface's: untrusted. */
export type MediaPart = ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** What a call gave. */
export interface CallResult {
  readonly tool: string;
  /** What a model reads: the result's text, framed as data. At most `maxResultBytes` before framing. */
  readonly text: string;
  /** Images, sounds and resources, in order. Text inside resources is part of `text` as well. */
  readonly parts: readonly MediaPart[];
  /** The result as data, where the surface gave it: untrusted. */
  readonly structuredContent: JsonObject | undefined;
  /** The tool says that it failed. */
  readonly isError: boolean;
  /** The marker that this result carried; the next call is pinned to it. */
  readonly revision: string | undefined;
  /** The call wrote nothing: it proposed, and a person decides. The event `proposalEnded` says how. */
  readonly proposal: ProposalReceipt | undefined;
  /** What a reader of this result should know about it, in the SDK's own words. */
  readonly notices: readonly string[];
}

/**
 * Reads a result and frames its text. The call has been carried out by then, and every error says so.
 *
 * @throws HumanPlusError `malformed_message`, `result_refused`, both with outcome `applied`
 */
export function readCallResult(
  result: JsonObject,
  source: TextSource,
  guard: ResultGuard,
): Omit<CallResult, "revision"> {
  const parsed = safeParseCallToolResult(result);
  if (!parsed.ok) {
    const message = `the surface carried out ${source.tool}, but its result cannot be read`;
    throw new HumanPlusError("malformed_message", message, { outcome: "applied", issues: parsed.issues });
  }
  const { content, structuredContent, isError, unreadable } = parsed.value;
  const texts = content.map(textOf).filter((text) => text !== undefined);
  // A result that is data alone still has to reach the model.
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  const meta = safeParseResultMeta(result["_meta"]);
  const proposal = meta.ok ? meta.value["human-plus/proposal"] : undefined;
  const notices: string[] = [];
  if (proposal !== undefined)
    notices.push("Nothing was written yet: this is a proposal, and a person decides about it.");
  if (unreadable > 0) notices.push(`${unreadable} part(s) of this result could not be read and were left out.`);
  if (parsed.notices.some(({ pointer }) => pointer === "/structuredContent")) {
    notices.push(`The structured part of this result nests deeper than ${limits.jsonDepth} levels and was left out.`);
  }
  return {
    tool: source.tool,
    text: guard.frame(texts.join("\n\n"), source),
    parts: content.filter((part) => part.type !== "text"),
    structuredContent,
    isError,
    proposal,
    notices,
  };
}

function textOf(part: ContentPart): string | undefined {
  switch (part.type) {
    case "text":
      return part.text;
    case "resource":
      return part.resource.text === undefined ? undefined : `[resource ${part.resource.uri}]\n${part.resource.text}`;
    case "resource_link":
      return `[link to ${part.uri}]${part.name === undefined ? "" : ` ${part.name}`}`;
    case "image":
    case "audio":
      return undefined;
    default:
      return part satisfies never;
  }
}
