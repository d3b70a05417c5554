import { Invitation, type RelayTransport } from "@human-plus/core";
import type { Invitation as InvitationFields } from "@human-plus/core/protocol";
import { bindChecks, type CheckDefinition, type CheckList } from "../check.ts";
import { createQuoter } from "../quote.ts";
import { type Report, type RunOptions, runChecks } from "../report.ts";
import { type TransportName, transports } from "../transports.ts";
import { catalogueChecks } from "./catalogue-checks.ts";
import { feedChecks, resultChecks } from "./feed-checks.ts";
import { notificationChecks } from "./notification-checks.ts";
import type { ObserveOptions } from "./observation.ts";
import { observedChecks } from "./observed-checks.ts";
import { sessionChecks } from "./session-checks.ts";
import { SurfaceProbe, type ToolCall } from "./surface-probe.ts";
import { writeChecks } from "./write-checks.ts";
import type { ProbeWriteOptions } from "./write-probe.ts";

export interface SurfaceChecksOptions {
  /** How frames come: a name, or a transport of your own, which is closed with the checks. @default "sse" */
  transport?: TransportName | RelayTransport | undefined;
  /** The relay is on this machine or in a private network; plain http to loopback is then allowed. @default false */
  local?: boolean | undefined;
  /** How long one answer may take, in milliseconds. @default 10_000 */
  timeoutMs?: number | undefined;
  /** A tool that only reads, to see results and markers. @default nothing but the change feed is called */
  read?: ToolCall | undefined;
  /** Lets somebody act on the surface while it is watched. @default what needs it is not seen */
  observe?: ObserveOptions | undefined;
  /** Lets the checks write. @default nothing is written */
  probeWrite?: ProbeWriteOptions | undefined;
}

export interface CheckSurfaceOptions extends SurfaceChecksOptions, Omit<RunOptions, "concurrency"> {}

/**
 * The contract of a surface as checks. Each may run by itself; they share two agents, who leave when the list is
 * disposed of. Nothing is written without `probeWrite`, and no tool but the change feed is called without `read`.
 *
 * @throws HumanPlusError `invalid_invitation`
 */
export function surfaceChecks(
  invitation: Invitation | InvitationFields,
  { transport = "sse", local = false, timeoutMs = 10_000, read, observe, probeWrite }: SurfaceChecksOptions = {},
): CheckList {
  const invited = invitation instanceof Invitation ? invitation : new Invitation(invitation);
  const quoter = createQuoter([invited.exposeToken()]);
  const probe = new SurfaceProbe({
    transport:
      typeof transport === "string" ? transports[transport]({ relayBaseUrl: invited.relayBaseUrl, local }) : transport,
    invitation: invited,
    timeoutMs,
    quoter,
    read,
  });
  const definitions: CheckDefinition<SurfaceProbe>[] = [
    ...sessionChecks,
    ...catalogueChecks,
    ...resultChecks,
    ...observedChecks(observe), // first: what happens then gives the feed rows
    ...feedChecks,
    ...writeChecks(probeWrite),
    ...notificationChecks,
  ];
  return bindChecks(definitions, probe, quoter, () => probe.close());
}

/**
 * Holds the contract against a surface.
 *
 * @throws UnreachableError if the relay refuses, or the surface does not answer
 */
export async function checkSurface(
  invitation: Invitation | InvitationFields,
  { level, onResult, ...options }: CheckSurfaceOptions = {},
): Promise<Report> {
  await using checks = surfaceChecks(invitation, options);
  const { transport = "sse" } = options;
  return await runChecks(
    checks,
    {
      subject: "surface",
      target: `${invitation.relayBaseUrl} session ${invitation.sessionId}`,
      transport: typeof transport === "string" ? transport : "a transport of the caller",
    },
    { level, onResult },
  );
}
