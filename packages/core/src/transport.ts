import type { HumanPlusError } from "./error.ts";
import type { ErrorResponse, Frame, Notification, Request, RequestId, Response } from "./gen/types.ts";
import type { Invitation } from "./invitation.ts";
import type { Issue } from "./parse/issue.ts";

/** One attachment as a transport sees it. */
export interface RelayLink {
  /** Names the attachment and its generation: two links with the same id share a receiving leg. */
  readonly id: string;
  readonly invitation: Invitation;
  /** Names which agent speaks. A transport adds to it what makes it unique to this process. */
  readonly client: string;
}

export interface ExchangeOptions {
  /** From now to the answer, in milliseconds. It covers everything: opening the leg, sending, waiting. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Takes a notification of a surface. It must not throw and must not wait. */
export type NotificationListener = (link: RelayLink, notification: Notification) => void;

/** Takes the news of a gap. It must not throw and must not wait. */
export type GapListener = (link: RelayLink) => void;

/**
 * Takes the news that nothing more is received over a link, and why: its session is gone (`surface_unavailable`), say, or
 * its token is no longer accepted (`attachment_unauthorized`). It must not throw and must not wait.
 */
export type EndListener = (link: RelayLink, error: HumanPlusError) => void;

/**
 * Carries frames between an agent and surfaces. Every promise it gives rejects with a `HumanPlusError` whose
 * `outcome` says what became of the frame.
 */
export interface RelayTransport {
  /** Sends a request once and waits for the response with its id. */
  exchange(link: RelayLink, request: Request, options: ExchangeOptions): Promise<Response | ErrorResponse>;
  /** Sends a notification; nothing answers it. */
  notify(link: RelayLink, notification: Notification, options: ExchangeOptions): Promise<void>;
  /** Leaves the session. A session that is already gone is a success. */
  detach(link: RelayLink, options: ExchangeOptions): Promise<void>;
  /** Hears every notification of every link, as long as a leg is open. Gives back what ends it. */
  onNotification(listener: NotificationListener): () => void;
  /** Hears that frames of a link may have been lost: what was concluded from its notifications no longer holds. Gives back what ends it. */
  onGap(listener: GapListener): () => void;
  /** Hears that a link has ended, as long as a leg is open. What an exchange ends with, it says itself. Gives back what ends it. */
  onEnd(listener: EndListener): () => void;
  /** Keeps the receiving leg of a link open although no exchange needs it. Gives back what ends that. */
  hold(link: RelayLink): () => void;
  /** Ends every exchange with `closed`, and leaves no timer and no socket behind. */
  close(): Promise<void>;
}

/** One thing that arrived over a receiving leg. */
export type Delivery =
  | { readonly kind: "frame"; readonly frame: Frame; readonly cursor: string | undefined }
  /** Something that is no frame. Where it named a request, whoever waits for it is told. */
  | {
      readonly kind: "malformed";
      readonly id: RequestId | undefined;
      readonly issues: readonly Issue[];
      readonly cursor: string | undefined;
    }
  /** The relay no longer has all the frames that this leg missed. */
  | { readonly kind: "gap"; readonly cursor: string | undefined }
  /** Nothing came, but where the leg would resume is known. */
  | { readonly kind: "cursor"; readonly cursor: string };

/**
 * An open receiving leg: what arrives, in order. It ends when the leg does, and throws a `HumanPlusError` when the
 * relay refuses. Leaving the loop closes it.
 */
export interface Subscription extends AsyncIterable<Delivery> {
  /** The leg opened and has delivered nothing at all, not even the bytes a relay sends at once. */
  readonly silent: boolean;
  /** Resolves with the first byte, or when the leg ends without one. Absent where the leg has spoken before it opens. */
  heard?(): Promise<void>;
  /** The longest the relay wants a reader to wait before it opens the leg again, in milliseconds, where it said so. */
  readonly retryMs?: number | undefined;
}

/** How much a leg is needed, as it stands at the moment of asking. */
export interface Demand {
  /** Until nobody waits any more and the idle time is over, in milliseconds; `Infinity` while the leg is held. */
  remainingMs(): number;
  /**
   * Waits without keeping the process alive. Ends early when the leg is closed, and when somebody new begins to wait;
   * gives whether it was that.
   */
  pause(ms: number): Promise<boolean>;
}

export interface OpenOptions {
  /** Only what came after this cursor. */
  after: string | undefined;
  /** Closes the leg. */
  signal: AbortSignal;
  /** Who still waits, and how long. A receiver that asks again and again paces itself by it. */
  demand: Demand;
  /** To be called when the connection stands and the answer is awaited: from then on, silence means something. */
  onConnect?: (() => void) | undefined;
}

/** A receiving leg: all that tells one transport from another. */
export interface Receiver {
  /** Opens the leg; it is open once the relay would deliver to it. @throws HumanPlusError */
  open(link: RelayLink, options: OpenOptions): Promise<Subscription>;
}

export interface SendOptions {
  /** Ends the attempt at once. Whoever aborts bounds the time. */
  signal: AbortSignal;
}

/** What became of a frame that a relay did not refuse. */
export type SendResult =
  | { readonly kind: "accepted" }
  /** The connection broke after the frame may have left: the answer is lost, the frame perhaps not. */
  | { readonly kind: "unconfirmed"; readonly error: HumanPlusError };

/** The sending half that every transport shares. */
export interface Sender {
  /** Sends a frame once, never again. @throws HumanPlusError whose outcome says whether the frame may have been received */
  send(link: RelayLink, frame: Request | Notification, options: SendOptions): Promise<SendResult>;
  /** Leaves the session; one that is gone is a success. @throws HumanPlusError */
  unregister(link: RelayLink, options: SendOptions): Promise<void>;
  /** Ends what is under way, and leaves no socket behind. */
  close(): Promise<void>;
}
