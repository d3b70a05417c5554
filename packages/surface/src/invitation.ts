import { type Invitation, isInvitation, shareLinks } from "@human-plus/core/protocol";
import { randomText } from "./random.ts";

export interface InvitationOptions {
  /** Where the relay is mounted: absolute, without query or fragment. */
  relayBaseUrl: string;
  /** The id of the surface. */
  surfaceId: string;
  /** The kind of application, for people and logs. */
  application: string;
  /** Keep it to stay in the same session over a reload. @default a random one */
  sessionId?: string | undefined;
  /** Keep it with the session id, where nobody else can read it. @default a random one */
  token?: string | undefined;
}

/** Mints what an agent needs to join. Whoever holds it can. @throws TypeError if a part is malformed */
export function createInvitation({
  relayBaseUrl,
  surfaceId,
  application,
  sessionId = randomText(12),
  token = randomText(32),
}: InvitationOptions): Invitation {
  const invitation = { relayBaseUrl, sessionId, token, surfaceId, application };
  if (!isInvitation(invitation)) throw new TypeError("a part of the invitation is not as the contract says");
  return invitation;
}

/**
 * The invitation as a link. It holds the token: show it only to whoever is invited, and log it nowhere.
 *
 * @param pageUrl the page to open; agents look for the relay at its host, under `/agent-relay`.
 *   @default no page: a link for agents alone, which names the relay itself
 * @throws TypeError if agents would not find this relay from that page
 */
export function toShareLink(invitation: Invitation, pageUrl?: string | URL): string {
  const { relayBaseUrl, sessionId, token, surfaceId, application } = invitation;
  const base = relayBaseUrl.replace(/\/+$/, "");
  const [tokenParameter] = shareLinks.tokenParameters;
  const link = new URL(pageUrl ?? `${base}/${sessionId}`);
  if (pageUrl !== undefined) {
    if (new URL(`/${shareLinks.mount}`, link).href !== base)
      throw new TypeError(`agents look for the relay of this page at /${shareLinks.mount} of its own host`);
    link.searchParams.set(shareLinks.sessionParameter, sessionId);
  }
  link.searchParams.set(tokenParameter, token);
  link.searchParams.set(shareLinks.surfaceParameter, surfaceId);
  link.searchParams.set(shareLinks.applicationParameter, application);
  link.hash = "";
  return link.href;
}
