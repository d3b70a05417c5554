import type { Json, JsonObject } from "./load.ts";

/** What the printers work from: the contract with its vendor keywords understood. */
export interface Model {
  readonly version: string;
  readonly protocol: { readonly mcp: string; readonly jsonrpc: string };
  readonly definitions: readonly Definition[];
  readonly constants: readonly ConstantTable[];
  readonly errors: readonly ErrorEntry[];
  readonly relayErrors: readonly RelayErrorEntry[];
  readonly routes: readonly Route[];
  readonly eventStream: JsonObject;
  /** The channel that describes the event stream. */
  readonly eventStreamChannel: string;
  readonly shareLinks: JsonObject;
  readonly authentication: { readonly queryParameter: string; readonly headerScheme: string };
  readonly limits: ReadonlyMap<string, number>;
}

export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  /** As it was written, for the validator and for TypeBox. */
  readonly json: JsonObject;
  readonly sentBy: readonly string[];
  readonly open: boolean;
  readonly parse: Parsing;
}

/** How a definition is parsed. */
export type Parsing =
  | { readonly kind: "checked" }
  | {
      readonly kind: "selected";
      readonly choices: ReadonlyArray<{ readonly keys: readonly string[]; readonly use: string }>;
    }
  | {
      readonly kind: "tagged";
      readonly tag: string;
      readonly choices: ReadonlyArray<{ readonly value: string; readonly use: string }>;
    }
  | { readonly kind: "scalar"; readonly conversion: Conversion; readonly otherwise: Json | undefined }
  | {
      readonly kind: "reader";
      readonly fields: readonly Field[];
      readonly maxDepth: number | undefined;
      readonly wrap: Wrapping | undefined;
    };

export type Schema =
  | { readonly kind: "ref"; readonly name: string }
  | { readonly kind: "scalar"; readonly type: "string" | "number" | "integer" | "boolean" | "null" }
  | { readonly kind: "literals"; readonly values: readonly Literal[] }
  | { readonly kind: "list"; readonly items: Schema }
  | { readonly kind: "object"; readonly properties: readonly Property[] }
  | { readonly kind: "union"; readonly members: readonly Schema[] }
  | { readonly kind: "any" }
  | { readonly kind: "never" };

export interface Literal {
  readonly value: Json;
  readonly description: string | undefined;
}

export interface Property {
  readonly name: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly schema: Schema;
  readonly json: Json;
}

export interface Conversion {
  readonly coerce: boolean;
  readonly trim: boolean;
  readonly foldCase: boolean;
  readonly words: ReadonlyMap<string, Json> | undefined;
}

export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly from: ReadonlyArray<readonly string[]>;
  readonly inverseFrom: ReadonlyArray<readonly string[]>;
  readonly firstPresent: boolean;
  readonly conversion: Conversion | undefined;
  readonly otherwise: Json | undefined;
  readonly malformed: Json | undefined;
  /** Name of a definition that reads the member itself. */
  readonly reader: string | undefined;
  /** Pointer of the member's schema, for the validator; absent where anything goes. */
  readonly check: string | undefined;
  readonly list:
    | { readonly item: string; readonly maxItems: number; readonly counter: string; readonly embedded: boolean }
    | undefined;
}

interface Wrapping {
  readonly into: string;
  readonly list: boolean;
  readonly having: string;
}

export interface ConstantTable {
  readonly name: string;
  readonly description: string;
  readonly entries: ReadonlyArray<{ readonly name: string; readonly description: string; readonly value: Json }>;
}

export interface ErrorEntry {
  readonly code: string;
  readonly description: string;
  readonly outcome: readonly string[];
  readonly retryable: boolean;
}

export interface RelayErrorEntry {
  readonly status: number | string;
  readonly code: string | undefined;
  readonly bodyContains: string | undefined;
  readonly error: string;
  readonly outcome: string;
  readonly retryable: boolean;
  readonly sentByRelay: boolean;
  readonly description: string;
}

export interface Route {
  readonly name: string;
  readonly method: string;
  readonly address: string;
  readonly summary: string;
  readonly usedBy: readonly string[];
  readonly optional: boolean;
  readonly dialect: string | undefined;
  readonly query: readonly QueryParameter[];
  readonly messages: readonly RouteMessage[];
}

/** What a route takes or answers. */
export interface RouteMessage {
  readonly name: string;
  readonly kind: "request" | "reply";
  /** Status of an answer. */
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  /** Schema of the body; absent where there is none, or anything goes. */
  readonly payload: Json | undefined;
}

export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly unit: string | undefined;
  /** As it was written. */
  readonly json: Json;
}
