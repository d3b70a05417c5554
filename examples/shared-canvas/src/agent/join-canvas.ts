import {
  createHumanPlus,
  type HumanPlus,
  Invitation,
  type ParticipantOptions,
  type SurfaceSession,
  TrustPolicy,
} from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";

/** One agent on the canvas. */
export interface CanvasAgent extends AsyncDisposable {
  readonly humanPlus: HumanPlus;
  readonly session: SurfaceSession;
}

export interface JoinCanvasOptions {
  shareLink: string;
  participant: ParticipantOptions;
  /** @default the tools that this example knows */
  trust?: TrustPolicy | undefined;
}

/** Everything that the scripted agent calls; what else a page may offer stays out of its reach. */
const TOOLS = ["canvas_read", "canvas_move", "canvas_edit", "canvas_add", "canvas_delete", "changes_since"];

/** Prepares to join: the first call does. @throws HumanPlusError `invalid_invitation`, `invalid_argument` */
export async function joinCanvas({
  shareLink,
  participant,
  trust = TrustPolicy.allowing(TOOLS),
}: JoinCanvasOptions): Promise<CanvasAgent> {
  const invitation = Invitation.fromLink(shareLink, { application: "shared-canvas" });
  const humanPlus = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) });
  const session = await humanPlus.attach({ owner: "demo", invitation, participant, trust });
  return {
    humanPlus,
    session,
    async [Symbol.asyncDispose]() {
      await session.detach({ timeoutMs: 2_000 }).catch(() => undefined); // the page may be gone before its agents
      await humanPlus.close();
    },
  };
}
