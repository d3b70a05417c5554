import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEventParser, type StreamEvent } from "../src/event-parser.ts";

const MAX = 65_536;

function parse(chunks: Iterable<Uint8Array>, maxDataBytes = MAX): StreamEvent[] {
  const events: StreamEvent[] = [];
  const parser = createEventParser({ maxDataBytes, onEvent: (event) => events.push(event), onRetry: () => {} });
  for (const chunk of chunks) parser.feed(chunk);
  return events;
}

const bytes = (text: string) => new TextEncoder().encode(text);

function* cut(whole: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  let from = 0;
  for (let index = 0; from < whole.length; index++) {
    const size = sizes[index % sizes.length] as number;
    yield whole.subarray(from, from + size);
    from += size;
  }
}

const intact = { id: undefined, damage: undefined };

describe("an event", () => {
  test.each([
    ["LF", "event: mcp\ndata: {}\n\n"],
    ["CRLF", "event: mcp\r\ndata: {}\r\n\r\n"],
    ["CR", "event: mcp\rdata: {}\r\r"],
    ["no space behind the colon", "event:mcp\ndata:{}\n\n"],
    ["a byte order mark", "\ufeffevent: mcp\ndata: {}\n\n"],
    ["comments", ": keepalive\nevent: mcp\n:\ndata: {}\n: more\n\n"],
    ["unknown fields", "colour: red\nevent: mcp\ndata: {}\nlonely\n\n"],
  ])("is read with %s", (_, text) => {
    expect(parse([bytes(text)])).toEqual([{ ...intact, name: "mcp", data: "{}" }]);
  });

  test("joins several data lines, and keeps its id", () => {
    expect(parse([bytes("id: 17\ndata: {\ndata: }\n\ndata: x\n\n")])).toEqual([
      { ...intact, id: "17", name: "", data: "{\n}" },
      { ...intact, name: "", data: "x" },
    ]);
  });

  test("is none before its blank line", () => {
    expect(parse([bytes("event: mcp\ndata: {}\n")])).toEqual([]);
  });

  test("is the same whatever the chunks", () => {
    const text = fc.string({ unit: "binary", maxLength: 60 }).map((value) => value.replace(/[\r\n\0]/g, " "));
    const ends = fc.constantFrom("\n", "\r\n", "\r");
    const events = fc.array(fc.tuple(text, text, ends), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(events, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (rows, sizes) => {
        const whole = bytes(rows.map(([id, data, end]) => `id: ${id}${end}data: ${data}${end}${end}`).join(""));
        expect(parse(cut(whole, sizes))).toEqual(parse([whole]));
        expect(parse([whole])).toHaveLength(rows.length);
      }),
    );
  });

  test("tells the retry time", () => {
    const told: number[] = [];
    const onEvent = () => expect.fail("no event was sent");
    const parser = createEventParser({ maxDataBytes: MAX, onEvent, onRetry: (ms) => told.push(ms) });
    parser.feed(bytes("retry: 2000\n\nretry: soon\n\n"));
    expect(told).toEqual([2000]);
  });
});

describe("damage", () => {
  test("of bytes that are not UTF-8 stays with its event", () => {
    const stream = Buffer.concat([bytes('data: {"a":"'), Buffer.from([0xff, 0xfe]), bytes('"}\n\ndata: {}\n\n')]);
    expect(parse(cut(stream, [3]))).toEqual([
      { ...intact, name: "", data: '{"a":"\ufffd\ufffd"}', damage: "not UTF-8" },
      { ...intact, name: "", data: "{}" },
    ]);
  });

  test("is none where a replacement character was sent", () => {
    expect(parse([bytes("data: \ufffd\n\n")])).toEqual([{ ...intact, name: "", data: "\ufffd" }]);
  });

  test.each([
    ["one line", `data: ${"x".repeat(2 * MAX)}\n\n`],
    ["many lines", `${`data: ${"x".repeat(1_000)}\n`.repeat(140)}\n`],
  ])("of an event that is too large, in %s, keeps its beginning and spares the next", (_, text) => {
    const [large, next] = parse(cut(bytes(`id: 4\nevent: mcp\n${text}data: {}\n\n`), [4_096]));
    expect(large).toMatchObject({ id: "4", name: "mcp", damage: "too large" });
    expect((large as StreamEvent).data.length).toBeLessThanOrEqual(MAX + 4_096);
    expect(next).toEqual({ ...intact, name: "", data: "{}" });
  });

  test("of a comment without an end is bounded too", () => {
    const events: StreamEvent[] = [];
    const onEvent = (event: StreamEvent) => events.push(event);
    const parser = createEventParser({ maxDataBytes: MAX, onEvent, onRetry: () => {} });
    const chunk = bytes("z".repeat(65_536));
    parser.feed(bytes(":"));
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 2_000; index++) parser.feed(chunk);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1_048_576);
    parser.feed(bytes("\ndata: {}\n\n"));
    expect(events).toEqual([{ ...intact, name: "", data: "{}" }]);
  });
});
