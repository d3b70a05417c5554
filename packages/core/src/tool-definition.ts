import canonicalize from "canonicalize";
import { parsePinnedDefinition } from "./gen/parsers.ts";
import type { JsonObject, Tool } from "./gen/types.ts";

/** A tool the agent may call. Description and schema are the surface's words: untrusted. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Hints of the surface about effects. Nothing may rely on them. */
  readonly annotations: JsonObject;
  /** Digest of name, description and input schema, for `TrustPolicy` pins. PROTOCOL.md section 7. */
  digest(): Promise<string>;
}

export function createToolDefinition(tool: Tool): ToolDefinition {
  const { name, title, description = "", inputSchema = {}, annotations = {} } = tool;
  let digest: Promise<string> | undefined;
  return Object.freeze({
    name,
    title,
    description,
    inputSchema,
    annotations,
    digest: () => {
      digest ??= digestOf(tool);
      return digest;
    },
  });
}

/** `sha256:` and the first 32 hex digits of SHA-256 over the canonical JSON (RFC 8785) of the pinned definition. */
export async function digestOf(tool: Pick<Tool, "name" | "description" | "inputSchema">): Promise<string> {
  const { description, inputSchema, name } = parsePinnedDefinition(tool);
  const text = canonicalize({ description, inputSchema, name }) as string;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(hash, 0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `sha256:${hex}`;
}
