import { createHash } from "node:crypto";
import { createResultGuard, type TextSource } from "@human-plus/core";
import { plainText } from "./plain-text.ts";

export interface DescribedTool {
  readonly title: string | undefined;
  readonly description: string;
}

export interface DescriptionOptions {
  source: TextSource;
  maxCharacters: number;
  /** Its parameters could not be handed on. */
  isOpen: boolean;
}

/**
 * What the model is told of a tool: the surface's words, framed as such. The nonce of the frame is a digest of the words,
 * so that the same words give the same description; a text cannot hold its own digest.
 */
export function describeTool({ title, description }: DescribedTool, options: DescriptionOptions): string {
  const { source, maxCharacters, isOpen } = options;
  const lines = ["A tool of a live surface, on which people may be working at this moment."];
  if (isOpen)
    lines.push(
      "Its parameters are described in more than can be handed on: all are allowed, and the surface checks them.",
    );
  const words = [title, description].filter((text) => text !== undefined && text.trim() !== "").join("\n");
  if (words === "") return [...lines, "The surface does not describe it."].join("\n");
  const digest = createHash("sha256")
    .update(JSON.stringify([source.source, source.tool, words]))
    .digest("hex");
  const guard = createResultGuard({ nonce: () => digest.slice(0, 16) });
  return [...lines, plainText(guard.excerpt(words, source, maxCharacters))].join("\n");
}
