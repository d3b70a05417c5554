import type { JsonObject } from "@human-plus/core";
import { cut } from "./bounded-text.ts";
import type { HostJsonObject, ToolElicitationRequest } from "./host.ts";
import type { ToolAddress } from "./tool-address.ts";

/** Which tools a person has to allow, by the host's own policy: nothing that a surface says has a part in it. */
export type ApprovalPolicy = (address: ToolAddress) => boolean;

/** What a person is asked about one call. */
export type ApprovalQuestion = (call: ToolAddress & { readonly args: JsonObject }) => string;

/** The host drops a longer reason. */
const MAX_REASON_BYTES = 2048;
const MAX_ARGUMENT_BYTES = 1024;

/**
 * The question as the host's durable gate shows it. The gate resolves a call with an answer instead of carrying it out, so
 * no answer is taken: a person decides with `allow_once`, `allow_for_run`, `reject_once` or `reject_for_run` alone.
 */
export function approvalRequest(
  address: ToolAddress,
  args: HostJsonObject,
  question: ApprovalQuestion | undefined,
): ToolElicitationRequest {
  const { surfaceId, tool } = address;
  return {
    schema: { additionalProperties: false, properties: {}, type: "object" },
    reason: cut(question?.({ surfaceId, tool, args }) ?? defaultQuestion(address, args), MAX_REASON_BYTES),
    validate() {
      throw new Error("decide with allow or reject and give no answer: an answer would take the place of the call");
    },
  };
}

function defaultQuestion({ surfaceId, tool }: ToolAddress, args: HostJsonObject): string {
  const given = cut(JSON.stringify(args), MAX_ARGUMENT_BYTES);
  return `May the agent call ${JSON.stringify(tool)} on the surface ${JSON.stringify(surfaceId)}? Arguments: ${given}`;
}
