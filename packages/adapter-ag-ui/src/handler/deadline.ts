import { unref } from "./at-most.ts";
import { AgUiRefusal } from "./refusal.ts";

/** How long a request may take, and whether anybody still waits for it. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #client: AbortSignal;
  readonly #onGone = () => this.#late("gone");
  #onEnd: ((reason: "time" | "gone") => void) | undefined;
  #isRead = false;
  #reject: (error: Error) => void = () => undefined;

  constructor(client: AbortSignal, timeoutMs: number) {
    this.#client = client;
    this.#timer = setTimeout(() => this.#late("time"), timeoutMs);
    unref(this.#timer);
    if (client.aborted) this.#onGone();
    else client.addEventListener("abort", this.#onGone, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The request was read: what takes long from now on is on this side. */
  wasRead(): void {
    this.#isRead = true;
  }

  onEnd(listener: (reason: "time" | "gone") => void): void {
    this.#onEnd = listener;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener("abort", this.#onGone);
  }

  /** Waits for an answer, but not longer than anybody does. */
  race(answer: Promise<Response>): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      answer.then(resolve, reject);
      if (this.signal.aborted) reject(this.signal.reason);
    });
  }

  /** Nobody is to wait any longer. */
  end(error: AgUiRefusal): void {
    this.#abort.abort(error);
    this.#reject(error);
  }

  #late(reason: "time" | "gone"): void {
    this.end(new AgUiRefusal(this.#isRead ? 504 : 408, "The request took too long"));
    this.#onEnd?.(reason);
  }
}
