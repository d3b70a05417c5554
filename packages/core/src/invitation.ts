import { HumanPlusError } from "./error.ts";
import { shareLinks } from "./gen/constants.ts";
import { safeParseInvitation } from "./gen/parsers.ts";
import type { Invitation as InvitationFields } from "./gen/types.ts";
import { issueText } from "./parse/unwrap.ts";

export type { InvitationFields };

/** What a share link may leave out. */
export interface ShareLinkOptions {
  /** @default what the link says, else "surface" */
  surfaceId?: string | undefined;
  /** @default what the link says, else "unknown" */
  application?: string | undefined;
  /** Where the relay is mounted, for links that name the session in their query. @default "agent-relay" */
  mount?: string | undefined;
}

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Everything an agent needs to join one surface. The token shows in no text of it. PROTOCOL.md section 1. */
export class Invitation {
  readonly relayBaseUrl: string;
  readonly sessionId: string;
  readonly surfaceId: string;
  readonly application: string;
  readonly #token: string;

  /** @throws HumanPlusError `invalid_invitation`, naming each member that is wrong */
  constructor(fields: InvitationFields) {
    const parsed = safeParseInvitation(fields);
    if (!parsed.ok) throw invalid(parsed.issues.map(issueText).join("; "), parsed.issues);
    const { relayBaseUrl, sessionId, token, surfaceId, application } = parsed.value;
    if (!URL.canParse(relayBaseUrl)) throw invalid("/relayBaseUrl should be an absolute URL", []);
    this.relayBaseUrl = relayBaseUrl;
    this.sessionId = sessionId;
    this.surfaceId = surfaceId;
    this.application = application;
    this.#token = token;
  }

  /**
   * Reads a share link: `https://host/any?session=S&token=T`, or `https://host/<mount>/S[/inbox|/events|/outbox|/poll]?token=T`.
   * `key=` is an alias of `token=`.
   *
   * @throws HumanPlusError `invalid_invitation`; the message never quotes the link
   */
  static fromLink(
    link: string,
    { surfaceId, application, mount = shareLinks.mount }: ShareLinkOptions = {},
  ): Invitation {
    if (!URL.canParse(link)) throw invalid("the share link should be an absolute URL", []);
    const url = new URL(link);
    if (url.username !== "" || url.password !== "")
      throw invalid("the share link should hold no user and no password", []);
    const [token, ...others] = new Set(shareLinks.tokenParameters.flatMap((name) => url.searchParams.getAll(name)));
    if (token === undefined || others.length > 0)
      throw invalid(
        `the share link should have one of ${shareLinks.tokenParameters.join(", ")} in its query, once`,
        [],
      );
    const named = url.searchParams.get(shareLinks.sessionParameter);
    const { base, sessionId } = named === null ? fromPath(url) : { base: `${url.origin}/${mount}`, sessionId: named };
    return new Invitation({
      relayBaseUrl: base,
      sessionId,
      token,
      surfaceId: surfaceId ?? url.searchParams.get(shareLinks.surfaceParameter) ?? "surface",
      application: application ?? url.searchParams.get(shareLinks.applicationParameter) ?? "unknown",
    });
  }

  /** The token. Whoever has it can act in the session: hand it to nobody, and put it in no text. */
  exposeToken(): string {
    return this.#token;
  }

  toJSON(): Omit<InvitationFields, "token"> {
    const { relayBaseUrl, sessionId, surfaceId, application } = this;
    return { relayBaseUrl, sessionId, surfaceId, application };
  }

  toString(): string {
    return `Invitation(${this.application}/${this.surfaceId} at ${this.relayBaseUrl})`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}

function fromPath(url: URL): { base: string; sessionId: string } {
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const suffixes: readonly string[] = shareLinks.pathSuffixes;
  if (segments.length > 1 && suffixes.includes(segments.at(-1) as string)) segments.pop();
  const sessionId = segments.pop();
  if (sessionId === undefined)
    throw invalid(`the share link should name a session in its path or as ${shareLinks.sessionParameter}`, []);
  return { base: [url.origin, ...segments].join("/"), sessionId };
}

function invalid(message: string, issues: HumanPlusError["issues"]): HumanPlusError {
  return new HumanPlusError("invalid_invitation", message, { issues });
}
