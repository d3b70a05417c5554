import type { JsonObject } from "@human-plus/core";
import { cleanUp } from "./clean-up.ts";
import type { Exchange } from "./conversation.ts";
import { lineUp } from "./line-up.ts";

/** What the agent does next. */
export type Move = Say | CallTool;

export interface Say {
  readonly type: "say";
  readonly text: string;
}

export interface CallTool {
  readonly type: "call";
  /** What it is for, for people. */
  readonly step: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Handle of the card that it works on. */
  readonly target?: string | undefined;
}

/** The agent's model, in place of a large one: the next move follows from the conversation and nothing else. */
export function nextMove(exchange: Exchange): Move {
  if (/\b(delete|remove|clean|throw|tidy away)/i.test(exchange.request)) return cleanUp(exchange);
  if (/\b(line|tidy|arrange|order|sort|rows?)\b/i.test(exchange.request)) return lineUp(exchange);
  return {
    type: "say",
    text: "I can line up the cards, and I can propose to delete one: “Line up the cards”, “Clean up”, “Delete Budget”.",
  };
}
