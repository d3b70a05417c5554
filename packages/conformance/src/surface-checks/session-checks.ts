import { isPriority, mcpProtocolVersion, methods, safeParseInitializeResult } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import { countReplies } from "./reply-count.ts";
import { issuesToText, type Reply, type SurfaceProbe } from "./surface-probe.ts";

/** The MCP session itself: PROTOCOL.md section 4. */
export const sessionChecks: readonly CheckDefinition<SurfaceProbe>[] = [
  {
    id: "surface.initialize",
    name: "initialize is answered with the pinned revision of MCP",
    section: "4",
    level: "must",
    async run(probe) {
      const { reply } = await probe.handshake();
      return judgeHandshake(reply, probe);
    },
  },
  {
    id: "surface.initialize.other-revision",
    name: "another revision of MCP is not agreed to",
    section: "4",
    level: "must",
    async run(probe) {
      await probe.handshake();
      const reply = await probe.initialize(probe.first, "1999-12-31");
      if (!reply.ok) return holds("refused with an error");
      return judgeHandshake(reply, probe);
    },
  },
  {
    id: "surface.initialize.again",
    name: "initialize is accepted again, also from another agent",
    section: "4",
    level: "must",
    async run(probe) {
      await probe.handshake();
      for (const agent of [probe.first, probe.second]) {
        const outcome = judgeHandshake(await probe.initialize(agent), probe);
        if (outcome.status !== "holds") return outcome;
      }
      return holds();
    },
  },
  {
    id: "surface.ping",
    name: "ping is answered with {}",
    section: "4",
    level: "must",
    async run(probe) {
      await probe.handshake();
      const reply = await probe.request(methods.ping, {});
      if (reply.ok && Object.keys(reply.result).length === 0) return holds();
      return doesNotHold("{}", replyToText(reply, probe));
    },
  },
  {
    id: "surface.unknown-method",
    name: "an unknown method is answered with an error",
    section: "4",
    level: "must",
    async run(probe) {
      await probe.handshake();
      const reply = await probe.request("conformance/no_such_method", {});
      return reply.ok ? doesNotHold("a JSON-RPC error", replyToText(reply, probe)) : holds();
    },
  },
  {
    id: "surface.unknown-tool",
    name: "a call of a tool that is not there is an error",
    section: "4",
    level: "must",
    async run(probe) {
      const reply = await probe.call({ name: `conformance_no_such_tool_${crypto.randomUUID()}`, args: {} });
      if (!reply.ok) return holds();
      return reply.result["isError"] === true
        ? holds("said in a result with isError")
        : doesNotHold("an error", replyToText(reply, probe));
    },
  },
  {
    id: "surface.malformed-call",
    name: "a call that names no tool is answered with an error",
    section: "4",
    level: "must",
    async run(probe) {
      await probe.handshake();
      const reply = await probe.request(methods.callTool, { arguments: {} });
      if (!reply.ok || reply.result["isError"] === true) return holds();
      return doesNotHold("an error", replyToText(reply, probe));
    },
  },
  {
    id: "surface.answered-once",
    name: "each request is answered once, with its own id",
    section: "4",
    level: "must",
    run: (probe) => countReplies(probe),
  },
  {
    id: "surface.cancelled",
    name: "notifications/cancelled for a request that is over does no harm",
    section: "4",
    level: "must",
    run: (probe) => staysAlive(probe, methods.cancelled, { requestId: crypto.randomUUID(), reason: "conformance" }),
  },
  {
    id: "surface.unknown-notification",
    name: "an unknown notification does no harm",
    section: "4",
    level: "must",
    run: (probe) => staysAlive(probe, "notifications/conformance/no_such_thing", { any: [1, "two"] }),
  },
  {
    id: "surface.presence",
    name: "presence is accepted and delays nothing",
    section: "4",
    level: "must",
    run(probe) {
      const { surfaceId, sessionId } = probe.invitation;
      const priority = "background";
      if (!isPriority(priority)) throw new TypeError("the contract has no such priority");
      const actor = { id: probe.first.participant, name: "Conformance", type: "agent" };
      const activity = { actor, surfaceId, sessionId, action: "checks the contract", priority };
      return staysAlive(probe, methods.activity, activity, "whether people see it cannot be seen from outside");
    },
  },
];

function judgeHandshake(reply: Reply, probe: SurfaceProbe): Outcome {
  const expected = `protocolVersion ${mcpProtocolVersion}`;
  if (!reply.ok) return doesNotHold(expected, replyToText(reply, probe));
  const parsed = safeParseInitializeResult(reply.result);
  if (!parsed.ok) return doesNotHold(expected, issuesToText(parsed.issues));
  const { protocolVersion } = parsed.value;
  return protocolVersion === mcpProtocolVersion
    ? holds()
    : doesNotHold(expected, `protocolVersion ${probe.quoter.quote(protocolVersion)}`);
}

/** Sends a notification, and then asks whether the surface is still there. */
async function staysAlive(probe: SurfaceProbe, method: string, params: object, note?: string): Promise<Outcome> {
  await probe.handshake();
  await probe.notify(method, { ...params });
  const reply = await probe.request(methods.ping, {});
  return reply.ok ? holds(note) : unseen(`afterwards ping was answered with ${replyToText(reply, probe)}`);
}

export function replyToText(reply: Reply, { quoter }: SurfaceProbe): string {
  if (reply.ok) return `a result: ${quoter.quote(reply.result)}`;
  const { code, message } = reply.error;
  return `an error ${quoter.quote(code)}: ${quoter.quote(message)}`;
}
