import type { RouteName } from "@human-plus/core/protocol";
import type { CorsOrigins } from "./cors.ts";

/** What a binding may be told. */
export interface BindingOptions {
  /** Path the relay is mounted at, `"/"` for the root. @default "/agent-relay" */
  prefix?: string | undefined;
  /** Origins whose browsers may use the relay. @default none */
  cors?: CorsOrigins | undefined;
  /** Gives the text for the metrics route. @default none: the route answers `not_found` */
  metrics?: (() => Promise<MetricsText>) | undefined;
  /** Told of every answer, for logs and metrics. It holds no URL and no token. @default nobody */
  onAnswer?: ((answered: Answered) => void) | undefined;
}

/** Metrics as text, and its content type. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** A request and how it was answered. */
export interface Answered {
  readonly method: string;
  /** The route; `undefined` if the path is none of the relay's. */
  readonly route: RouteName | undefined;
  readonly status: number;
  /** From the request to the head of the answer, in milliseconds; for a poll this includes its waiting. */
  readonly durationMs: number;
  /** `undefined` where the request named none, or none that could be one. */
  readonly session: string | undefined;
  readonly client: string | undefined;
}
