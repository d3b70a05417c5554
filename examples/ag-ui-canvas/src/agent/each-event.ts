import { ReadableStream } from "node:stream/web";
import { fromEvent, type Observable, of, Subscription, takeUntil } from "rxjs";

/** An Observable as handlers want it: begun at once, and let go of when the signal or the reader says so. */
export function eachEvent<T>(events: Observable<T>, signal: AbortSignal): AsyncIterable<T> {
  const subscription = new Subscription();
  const aborted: Observable<unknown> = signal.aborted ? of(undefined) : fromEvent(signal, "abort");
  return new ReadableStream<T>({
    start(controller) {
      subscription.add(
        events.pipe(takeUntil(aborted)).subscribe({
          next: (event) => controller.enqueue(event),
          error: (error) => controller.error(error),
          complete: () => controller.close(),
        }),
      );
    },
    cancel: () => subscription.unsubscribe(),
  });
}
