import { Observable, Subject } from "rxjs";
import { expect, test } from "vitest";
import { eachEvent } from "../src/agent/each-event.ts";

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** An Observable that stays open, and whether somebody listens. */
function open() {
  const subject = new Subject<number>();
  return { subject, isHeard: () => subject.observed };
}

test("gives events in their order, and ends with them", async () => {
  const events = new Observable<number>((subscriber) => {
    for (const each of [1, 2, 3]) subscriber.next(each);
    subscriber.complete();
  });
  expect(await all(eachEvent(events, new AbortController().signal))).toEqual([1, 2, 3]);
});

test("lets go when the signal aborts, also while nothing comes, and if it had aborted before", async () => {
  const { subject, isHeard } = open();
  const abort = new AbortController();
  const reading = all(eachEvent(subject, abort.signal));
  expect(isHeard()).toBe(true);
  abort.abort();
  expect(await reading).toEqual([]);
  expect(isHeard()).toBe(false);
  expect(await all(eachEvent(subject, abort.signal))).toEqual([]);
  expect(isHeard()).toBe(false);
});

test("lets go when its reader stops", async () => {
  const { subject, isHeard } = open();
  const events = eachEvent(subject, new AbortController().signal);
  subject.next(1);
  for await (const each of events) {
    expect(each).toBe(1);
    break;
  }
  expect(isHeard()).toBe(false);
});

test("fails as the Observable does", async () => {
  const { subject } = open();
  const reading = all(eachEvent(subject, new AbortController().signal));
  subject.error(new Error("no"));
  await expect(reading).rejects.toThrow("no");
});
