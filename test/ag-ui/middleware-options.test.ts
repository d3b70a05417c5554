import {
  type SurfaceFault,
  SurfaceMiddleware,
  type SurfaceMiddlewareConfig,
} from "@human-plus/adapter-ag-ui/middleware";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface } from "./parts/surface-runs.ts";

test.each([
  [{ surface: 1 }, /surface should be a session or a function that gives one, is 1/],
  [{ name: "a b" }, /name should match/],
  [{ maxIterations: 0 }, /maxIterations should be a whole number from 1 to 1000, is 0/],
  [{ maxCallsPerRound: 0 }, /maxCallsPerRound should be a whole number from 1 to 1000, is 0/],
  [{ maxTools: 1_000 }, /maxTools/],
  [{ maxToolBytes: 1 }, /maxToolBytes/],
  [{ setupTimeoutMs: 0.5 }, /setupTimeoutMs/],
  [{ callTimeoutMs: -1 }, /callTimeoutMs/],
  [{ maxSurfaces: 0 }, /maxSurfaces/],
  [{ maxThreads: 0 }, /maxThreads/],
  [{ context: "no" }, /context should be true or false, is "no"/],
  [{ protect: 1 }, /protect should be true or false, is 1/],
  [{ protect: true }, /protect needs handlesOf/],
  [{ protect: true, handlesOf: ["card"] }, /handlesOf should be a function, is a list/],
  [{ yieldToPerson: "yes" }, /yieldToPerson should be true or false, is "yes"/],
  [{ proposals: "interrupt" }, /proposals should be "report" or options, is "interrupt"/],
  [{ proposals: true }, /proposals should be an object with options, is true/],
  [{ proposals: null }, /proposals should be an object with options, is null/],
  [{ proposals: { settleTimeoutMs: -1 } }, /proposals.settleTimeoutMs/],
  [{ proposals: { decide: "x" } }, /proposals.decide should be a function, is "x"/],
  [{ proposals: { message: "Accept?" } }, /proposals.message should be a function, is "Accept\?"/],
  [{ proposals: { decides: () => undefined } }, /proposals should hold no "decides"/],
  [{ tools: [1] }, /tools should be a list of names, or a function/],
  [{ tools: "canvas_read" }, /tools should be a list of names, or a function, is "canvas_read"/],
  [{ feed: true }, /feed should be an object with options, is true/],
  [{ feed: { maxEntries: 0 } }, /maxEntries/],
  [{ feed: { activity: "no" } }, /activity should be true or false, is "no"/],
  [{ feed: { projection: { changes: () => 1 } } }, /projection should hold no "changes"/],
  [{ feed: { name: "board" } }, /feed should hold no "name"/],
  [{ onError: {} }, /onError should be a function, is an object/],
  [{ onProblem: () => undefined }, /options of the middleware should hold no "onProblem"/],
  [{ now: 0 }, /now should be a function, is 0/],
  [{ randomId: "id" }, /randomId should be a function, is "id"/],
])("%o is refused by name", (wrong, message) => {
  const config = { surface: () => undefined, ...wrong } as unknown as SurfaceMiddlewareConfig;
  const make = () => new SurfaceMiddleware(config);
  expect(make).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  expect(make).toThrow(message);
});

test.each([undefined, null, [], "surface"])("options that are %j are refused", (config) => {
  expect(() => new SurfaceMiddleware(config as never)).toThrow(
    expect.objectContaining({ code: "invalid_argument", message: expect.stringMatching(/^options of the middleware/) }),
  );
});

describe("which tools are offered", () => {
  async function runWith(tools: SurfaceMiddlewareConfig["tools"], runs = 1) {
    await using canvas = await startLiveCanvas();
    const faults: SurfaceFault[] = [];
    const onError = (fault: SurfaceFault) => void faults.push(fault);
    using middleware = new SurfaceMiddleware({ surface: await canvas.join(), tools, onError });
    await using agent = await startScriptedAgent((_, turn) => says(`m${turn}`, "Hello"));
    const types: string[] = [];
    for (let run = 1; run <= runs; run++) {
      const result = await runWithSurface({ url: agent.url, middleware, input: { runId: `r${run}` } });
      types.push(String(result.types.at(-1)));
    }
    const offered = agent.inputs.map(({ tools: list }) => list?.map(({ name }) => name));
    const problems = faults.map(({ stage, error }) => `${stage}: ${(error as Error).message}`);
    return { types, offered, problems };
  }

  test("is none where the filter throws, and the run goes on", async () => {
    const failing = () => {
      throw new Error("no policy");
    };
    const { types, offered, problems } = await runWith(failing);
    expect([types, offered, problems]).toEqual([["RUN_FINISHED"], [[]], ["tools: no policy"]]);
  });

  test("is none where the filter promises something: a promise is neither true nor false", async () => {
    const { types, offered, problems } = await runWith((async () => false) as never);
    expect([types, offered]).toEqual([["RUN_FINISHED"], [[]]]);
    expect(problems).toEqual([expect.stringMatching(/tools should give true or false, and at once, gave a promise/)]);
  });

  test("may name what the surface does not offer: it is told once, and not with every run", async () => {
    const { offered, problems } = await runWith(["canvas_read", "canvas_raed"], 3);
    expect(offered).toEqual([["surface__canvas_read"], ["surface__canvas_read"], ["surface__canvas_read"]]);
    expect(problems).toEqual([expect.stringMatching(/^tools: .*"canvas_raed", which the surface does not offer/)]);
  });
});

test.each([
  () => {
    throw new Error("no listener");
  },
  () => Promise.reject(new Error("no listener")),
])("a listener of faults that fails adds none to the run", async (onError) => {
  await using canvas = await startLiveCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join(), tools: ["no_such_tool"], onError });
  await using agent = await startScriptedAgent(() => says("m", "Hello"));
  const { types } = await runWithSurface({ url: agent.url, middleware });
  expect(types.at(-1)).toBe("RUN_FINISHED");
});
