import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBroker } from "../src/fetch.ts";
import { createManualClock } from "./support/manual-clock.ts";
import { createModelReader, type ModelReader } from "./support/model-reader.ts";
import { call, note, result, token } from "./support/session-client.ts";

const kinds = ["stream", "outbox", "poll"] as const;
const session = "canvas-1";
const clients = ["a", "b", "c"];

/** What can happen; the number names a client. */
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("notify" as const), client: fc.constant(0) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom("ask", "answer", "open", "breakOff", "notice", "turn"),
      client: fc.nat(2),
    }),
  },
);

function play(
  actions: readonly { do: string; client: number }[],
  kindOf: readonly (typeof kinds)[number][],
  queueFrames: number,
) {
  const turns: (() => void)[] = [];
  const clock = { ...createManualClock(), afterTurn: (callback: () => void) => turns.push(callback) };
  const broker = createBroker({ clock, queueFrames });
  broker.register(session, token);
  const surface = { session, token };
  const readers: ModelReader[] = clients.map((client, index) => {
    return createModelReader({ broker, ...surface, client, kind: kindOf[index] ?? "stream" });
  });
  const expected: string[][] = clients.map(() => []);
  const asked: string[][] = clients.map(() => []);
  let count = 0;

  /** Two turns of the event loop; before the second one the broker knows of every connection that broke before. */
  const turn = () => {
    for (let round = 0; round < 2; round++) for (const callback of turns.splice(0)) callback();
  };
  const say = (frame: object, to: readonly number[]) => {
    expect(broker.sendToAgents(surface, JSON.stringify(frame))).toBeUndefined();
    for (const index of to) expected[index]?.push(JSON.stringify(frame));
  };
  const steps: Record<string, (index: number) => void> = {
    notify: () => say(note(`note ${count++}`), [0, 1, 2]),
    ask(index) {
      const id = `id ${count++}`;
      const caller = { ...surface, client: clients[index] };
      expect(broker.sendToSurface(caller, JSON.stringify(call(id)))).toBeUndefined();
      asked[index]?.push(id);
    },
    answer(index) {
      const id = asked[index]?.shift();
      if (id === undefined) return;
      say(result(id), [index]);
      broker.sendToAgents(surface, JSON.stringify(result(id, { again: true }))); // goes to nobody
    },
    open: (index) => readers[index]?.open(),
    breakOff: (index) => readers[index]?.breakOff(),
    notice: (index) => readers[index]?.notice(),
    turn,
  };
  // Every client is known before the first notification, and has a cursor or a subscriber.
  for (const reader of readers) reader.open();
  for (const step of actions) steps[step.do]?.(step.client);
  // In the end everybody comes back, and reads on until there is nothing more.
  for (let round = 0; round < 3; round++) {
    turn();
    for (const reader of readers) {
      reader.notice();
      reader.open();
    }
  }
  broker.close();
  return readers.map(({ received, gaps }, index) => ({ received, gaps, expected: expected[index] ?? [] }));
}

const kindOfThree = fc.tuple(fc.constantFrom(...kinds), fc.constantFrom(...kinds), fc.constantFrom(...kinds));

describe("delivery under broken connections", () => {
  test("within the bounds nothing is lost, repeated, reordered or misrouted", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 80 }), kindOfThree, (actions, kindOf) => {
        for (const { received, gaps, expected } of play(actions, kindOf, 256)) {
          expect(received).toEqual(expected);
          expect(gaps).toBe(0);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("over the bounds only the oldest are lost, nothing is repeated or reordered, and every loss is said", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 80 }), kindOfThree, (actions, kindOf) => {
        for (const { received, gaps, expected } of play(actions, kindOf, 2)) {
          let at = -1;
          for (const frame of received) {
            const next = expected.indexOf(frame);
            expect(next).toBeGreaterThan(at);
            at = next;
          }
          expect(received.at(-1)).toBe(expected.at(-1));
          if (received.length < expected.length) expect(gaps).toBeGreaterThan(0);
          else expect(gaps).toBe(0);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
