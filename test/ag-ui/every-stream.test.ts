import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import { describe, expect, test } from "vitest";
import { completeInput, toSse } from "./judge.ts";
import { says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface } from "./parts/surface-runs.ts";
import { judgeRecordings, type Recorded } from "./taps/judge-recordings.ts";
import { exempt, type Recording, takeRecordings } from "./taps/recordings.ts";

// What a test streams with our adapter is judged though the test does not ask for it: `taps` stands in the place of the entries.

const input = completeInput();
const ids = { threadId: "t", runId: "r" };
const started = { type: "RUN_STARTED", ...ids };
const finished = { type: "RUN_FINISHED", ...ids };

function recorded(events: readonly object[], more: Partial<Recording> = {}): Recording {
  return { input, contentType: "text/event-stream", chunks: [Buffer.from(toSse(events))], state: "ended", ...more };
}

const verdictOn = async (recording: Recording, more: Partial<Recorded> = {}) =>
  (await judgeRecordings({ recordings: [recording], exemptions: [], cut: undefined, ...more })).join("\n");

describe("a stream is recorded", () => {
  test("of a handler, with what was asked, though nobody reads it", async () => {
    const handler = createAgUiHandler({
      authorize: () => ({}),
      async *run() {
        yield* says("m", "Hello");
      },
    });
    const headers = { "content-type": "application/json" };
    await handler(new Request("http://agent.example/", { method: "POST", headers, body: JSON.stringify(input) }));
    const taken = takeRecordings();
    expect(taken.recordings).toMatchObject([{ input, state: "open" }]);
    expect(await judgeRecordings(taken)).toEqual([]);
    expect(Buffer.concat(taken.recordings[0]?.chunks ?? []).toString()).toContain("RUN_FINISHED");
  });

  test("of a middleware", async () => {
    using middleware = new SurfaceMiddleware({ surface: () => undefined });
    await using agent = await startScriptedAgent(() => says("m", "Hello"));
    await runWithSurface({ url: agent.url, middleware });
    const taken = takeRecordings();
    expect(taken.recordings).toMatchObject([{ input: { threadId: "t", runId: "r" }, state: "ended" }]);
    expect(await judgeRecordings(taken)).toEqual([]);
  });
});

describe("a recorded stream is refused", () => {
  test("that clients take, and the rules do not", async () => {
    expect(await verdictOn(recorded([started, { ...finished, runId: "other" }]))).toMatch(
      /runId should be r, is other/,
    );
  });

  test("that one client does not take", async () => {
    const cancelled = recorded([started, { ...finished, outcome: { type: "cancelled" } }]);
    expect(await verdictOn(cancelled)).toMatch(/0\.0\.57 rejects[\s\S]*0\.0\.59 rejects/);
    expect(await verdictOn({ ...cancelled, input: { ...input, protocolVersion: "1.0" } })).toBe("");
  });

  test("of which one client warns", async () => {
    expect(await verdictOn(recorded([started, { ...finished, surface: "board" }]))).toMatch(/1\.0\.0 warns: .*surface/);
  });

  test.each(["open", "left", "broken"] as const)(
    "that has no end, and is %s, unless that is meant so",
    async (state) => {
      const half = recorded([started, ...says("m", "Hello").slice(0, 2)], { state });
      expect(await verdictOn(half)).toMatch(/has no end[\s\S]*0 terminal events[\s\S]*m is still open/);
      expect(await verdictOn(half, { cut: "the reader goes away" })).toBe("");
    },
  );

  test("each time, though it is the same", async () => {
    const late = recorded([started, finished, ...says("m", "late")]);
    for (let times = 0; times < 2; times++)
      expect(await verdictOn(late)).toMatch(/0\.0\.57 rejects[\s\S]*1\.0\.0 rejects/);
  });

  test("that is wrong as far as it was read", async () => {
    const half = recorded([started, ...says("m", "Hello").slice(1)], { state: "left" });
    expect(await verdictOn(half, { cut: "the reader goes away" })).toMatch(/m is not open[\s\S]*1\.0\.0 rejects/);
  });
});

describe("an exemption is refused", () => {
  const exemption = { fault: /other/, reason: "the run is another's" };

  test("that no stream needs", async () => {
    expect(await verdictOn(recorded([started, finished]), { exemptions: [exemption] })).toMatch(
      /no stream .* \/other\//,
    );
    expect(await verdictOn(recorded([started, finished]), { cut: "why" })).toMatch(
      /no stream of this test was cut off/,
    );
  });

  test("of other faults than it names", async () => {
    const run = recorded([
      { ...started, threadId: "x" },
      { ...finished, runId: "other" },
    ]);
    const verdict = await verdictOn(run, { exemptions: [exemption] });
    expect(verdict).toMatch(/threadId should be t, is x/);
    expect(verdict).not.toMatch(/runId should be/);
  });

  test("that has no reason", () => {
    expect(() => exempt(/x/, "")).toThrow(/reason/);
  });
});

const root = join(import.meta.dirname, "../..");

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sourcesIn(path);
    return path.endsWith(".ts") ? [path] : [];
  });
}

test("nobody writes streams of AG-UI by hand but agents of others, and what judges them", () => {
  const files = ["test", "packages/adapter-ag-ui/test", "examples/ag-ui-canvas/test"].flatMap(sourcesIn);
  const writers = files.filter((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return text.includes("text/event-stream") && /RUN_STARTED|createAgUiHandler/.test(text);
  });
  expect(writers.filter((file) => file !== "test/ag-ui/every-stream.test.ts").sort()).toEqual([
    "test/ag-ui/handler/fuzz.test.ts", // asks for it
    "test/ag-ui/handler/wire.test.ts", // asks for it
    "test/ag-ui/judge.test.ts",
    "test/ag-ui/parts/scripted-agent.ts",
    "test/hosts/readme.test.ts", // the agent behind the runtime
  ]);
});
