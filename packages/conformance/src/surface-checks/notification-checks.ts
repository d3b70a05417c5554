import {
  methods,
  type Notification,
  type Parsed,
  safeParseAgentActivityNotification,
  safeParseLogMessageNotification,
  safeParseProgressNotification,
  safeParseProposalNotification,
  safeParseToolsListChangedNotification,
} from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import { doesNotHold, holds, unseen } from "../outcome.ts";
import { issuesToText, type SurfaceProbe } from "./surface-probe.ts";

const PARSERS: Readonly<Record<string, (value: unknown) => Parsed<unknown>>> = {
  [methods.toolsListChanged]: safeParseToolsListChangedNotification,
  [methods.progress]: safeParseProgressNotification,
  [methods.agentActivity]: safeParseAgentActivityNotification,
  [methods.logMessage]: safeParseLogMessageNotification,
  [methods.proposal]: safeParseProposalNotification,
};

/** What came unasked during all other checks: PROTOCOL.md section 4. They run last. */
export const notificationChecks: readonly CheckDefinition<SurfaceProbe>[] = [
  {
    id: "surface.notifications",
    name: "notifications are as the contract has them",
    section: "4",
    level: "must",
    async run({ notifications, quoter }) {
      const known = notifications.filter(({ method }) => Object.hasOwn(PARSERS, method));
      if (known.length === 0) return unseen("none came");
      for (const notification of known) {
        const parsed = PARSERS[notification.method]?.(notification);
        if (parsed === undefined || parsed.ok) continue;
        return doesNotHold(`${notification.method} that can be read`, quoter.quote(issuesToText(parsed.issues)));
      }
      return holds(`${known.length} came`);
    },
  },
  {
    id: "surface.progress",
    name: "progress names a token that was given, and grows",
    section: "4",
    level: "must",
    async run(probe) {
      const progressToken = crypto.randomUUID();
      const name = await probe.feedName();
      const call = probe.read ?? (name === undefined ? undefined : { name, args: {} });
      if (call !== undefined) await probe.call(call, { progressToken });
      const steps = probe.notifications.flatMap(progressOf);
      if (steps.length === 0) return unseen("no call reported progress");
      const stranger = steps.find(({ token }) => !probe.progressTokens.has(token));
      if (stranger !== undefined)
        return doesNotHold("a token that a call gave", `token ${probe.quoter.quote(stranger.token)}`);
      const reached = new Map<unknown, number>();
      for (const { token, progress } of steps) {
        const before = reached.get(token) ?? Number.NEGATIVE_INFINITY;
        if (progress <= before) return doesNotHold("steps that grow", `${progress} after ${before}`);
        reached.set(token, progress);
      }
      return holds(`${steps.length} steps`);
    },
  },
];

function progressOf(notification: Notification): { token: unknown; progress: number }[] {
  if (notification.method !== methods.progress) return [];
  const parsed = safeParseProgressNotification(notification);
  return parsed.ok ? [{ token: parsed.value.params.progressToken, progress: parsed.value.params.progress }] : [];
}
