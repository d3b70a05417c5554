import { describe, expect, test } from "vitest";
import { createBroker, type StreamSink } from "../src/fetch.ts";
import { createManualClock } from "./support/manual-clock.ts";
import { note, token } from "./support/session-client.ts";

/** A broker whose turns of the event loop are the test's, and streams whose reader may be gone before it knows. */
function setUp() {
  const turns: (() => void)[] = [];
  const broker = createBroker({ clock: { ...createManualClock(), afterTurn: (callback) => turns.push(callback) } });
  const surface = { session: "canvas-1", token };
  broker.register(surface.session, token);
  return {
    turn: () => {
      for (let round = 0; round < 2; round++) for (const callback of turns.splice(0)) callback();
    },
    say: (name: string) => broker.sendToAgents(surface, JSON.stringify(note(name))),
    open(cursor?: string) {
      const written: string[] = [];
      const cursors: string[] = [];
      const stream = { written, cursors, isThere: true, close: () => undefined as unknown };
      const sink: StreamSink = {
        open: () => true,
        frame: (next, text) => {
          cursors.push(next);
          return written.push(JSON.parse(text).params.data) > 0;
        },
        gap: () => true,
        keepAlive: () => true,
        end: () => undefined,
        cut: () => undefined,
        isOpen: () => stream.isThere,
      };
      const leg = broker.openStream({ ...surface, client: "a", cursor }, sink);
      if (typeof leg === "string") throw new Error(leg);
      stream.close = () => leg.closed();
      return stream;
    },
  };
}

describe("a reader without a cursor", () => {
  test("is given again what was written to a stream whose reader turned out to be gone", () => {
    const { open, say, turn } = setUp();
    const dying = open();
    dying.isThere = false;
    say("one");
    expect(dying.written).toEqual(["one"]);
    turn();
    dying.close();
    expect(open().written).toEqual(["one"]);
  });

  test("is given again what was written to a stream that closed before the sockets were looked at", () => {
    const { open, say, turn } = setUp();
    const dying = open();
    say("one");
    dying.close();
    turn();
    expect(open().written).toEqual(["one"]);
  });

  test("is not given what was written to a stream that was still open afterwards", () => {
    const { open, say, turn } = setUp();
    const first = open();
    say("one");
    turn();
    first.close();
    say("two");
    expect(open().written).toEqual(["two"]);
  });

  test("is not given what another leg of the client has read, as its cursor says", () => {
    const { open, say } = setUp();
    const first = open();
    say("one");
    say("two");
    first.close();
    const second = open(first.cursors[0]);
    expect(second.written).toEqual(["two"]);
    expect(open().written).toEqual(["two"]);
  });
});
