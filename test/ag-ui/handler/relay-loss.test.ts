import { type AgUiHandlerOptions, createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { createHumanPlus, type SurfaceSession, TrustPolicy } from "@human-plus/core";
import { connectSurface, createInvitation, createSurface } from "@human-plus/surface";
import { createSseTransport } from "@human-plus/transport-sse";
import { afterEach, describe, expect, test, vi } from "vitest";
import { startRelayProcess } from "../../parts/relay-process.ts";
import { AT_ONCE_MS, countUnhandledRejections, within } from "../parts/bounds.ts";
import { clientVersions, startClientProcess } from "../parts/client-process.ts";
import { endOf, readAll, startNodeServer, webRequest } from "../parts/node-server.ts";
import { cutOff } from "../taps/recordings.ts";

countUnhandledRejections();
afterEach(() => void vi.useRealTimers());

/** How long a call may take, in milliseconds: it is what bounds a run whose relay is lost while it waits for an answer. */
const CALL_MS = 3_000;

/** Where some are held, and others pass. */
class Checkpoint {
  readonly #holds: Array<() => Promise<void>> = [];

  async pass(): Promise<void> {
    await this.#holds.shift()?.();
  }

  hold(count: number) {
    const released = Promise.withResolvers<void>();
    const arrivals = Array.from({ length: count }, () => {
      const arrived = Promise.withResolvers<void>();
      this.#holds.push(() => {
        arrived.resolve();
        return released.promise;
      });
      return arrived.promise;
    });
    return { there: Promise.all(arrivals), release: () => released.resolve() };
  }
}

/** A relay in a process of its own, a board on it, and runs that write there once each. */
async function startHost(options: {
  readonly timeoutMs?: number;
  readonly limits?: AgUiHandlerOptions<object>["limits"];
}) {
  const relay = await startRelayProcess();
  const invitation = createInvitation({ relayBaseUrl: relay.baseUrl, surfaceId: "board", application: "canvas" });
  const surface = createSurface({ id: "board", application: "canvas" });
  const steps = { arrived: new Checkpoint(), answered: new Checkpoint() };
  let written = 0;
  surface.tool({ name: "board_read", touches: "none", handler: () => "empty" });
  surface.tool({
    name: "board_write",
    touches: ({ card }) => [String(card)],
    async handler({ card }, call) {
      await steps.arrived.pass();
      call.commit({ handle: String(card), kind: "updated" }, () => void written++);
      return "written";
    },
  });
  const connection = connectSurface(surface, invitation);
  await connection.opened();
  const { timeoutMs, limits } = options;
  const humanPlus = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }), timeoutMs });
  const join = async (): Promise<SurfaceSession> => {
    const board = await humanPlus.attach({
      owner: "user-17",
      invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
    await board.call("board_read");
    return board;
  };
  const boards = await Promise.all(clientVersions.map(join));
  const going = Promise.withResolvers<void>();
  let index = 0;
  const problems: unknown[] = [];
  const handler = createAgUiHandler({
    authorize: () => ({}),
    async *run({ signal }) {
      const card = index++;
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Let me see" };
      await going.promise;
      await boards[card]?.call("board_write", { card }, { signal });
      await steps.answered.pass();
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: ", done" };
    },
    limits,
    onProblem: ({ cause }) => void problems.push(cause),
  });
  return {
    relay,
    handler,
    boards,
    problems,
    written: () => written,
    /** Lets runs go on to their call. */
    goOn: () => going.resolve(),
    /** Holds as many at this step, until they are let go. */
    hold: (step: keyof typeof steps, count: number) => steps[step].hold(count),
    async [Symbol.asyncDispose]() {
      await humanPlus.close();
      await connection.close();
      surface.close();
      await relay.kill();
    },
  };
}

type Host = Awaited<ReturnType<typeof startHost>>;

/** When the relay dies, how runs end then, and how often was written in truth. */
const losses: ReadonlyArray<{
  readonly when: string;
  readonly die: (host: Host, count: number) => Promise<void>;
  readonly end: string;
  readonly says: RegExp | undefined;
  readonly boundMs: number;
  readonly outcome: string | undefined;
  /** In truth, for each run. */
  readonly writes: number;
}> = [
  {
    when: "before the call",
    async die({ relay, goOn }) {
      await relay.kill();
      goOn();
    },
    end: "HUMAN_PLUS_RELAY_UNREACHABLE",
    says: /nothing was applied$/,
    boundMs: CALL_MS,
    outcome: "not_applied",
    writes: 0,
  },
  {
    when: "during the call, which is made all the same",
    async die({ relay, goOn, hold }, count) {
      const { there, release } = hold("arrived", count);
      goOn();
      await there;
      await relay.kill();
      release();
    },
    end: "HUMAN_PLUS_RELAY_TIMEOUT",
    says: /it is not known whether its call was applied$/,
    boundMs: CALL_MS,
    outcome: "unknown",
    writes: 1,
  },
  {
    when: "during the call, which is never made",
    async die({ relay, goOn, hold }, count) {
      const { there } = hold("arrived", count);
      goOn();
      await there;
      await relay.kill();
    },
    end: "HUMAN_PLUS_RELAY_TIMEOUT",
    says: /it is not known whether its call was applied$/,
    boundMs: CALL_MS,
    outcome: "unknown",
    writes: 0,
  },
  {
    when: "after the answer, before the run is over",
    async die({ relay, goOn, hold }, count) {
      const { there, release } = hold("answered", count);
      goOn();
      await there;
      await relay.kill();
      release();
    },
    end: "RUN_FINISHED",
    says: undefined,
    boundMs: 0,
    outcome: undefined,
    writes: 1,
  },
];

describe.each(losses)("a relay that dies $when", ({ die, end, says, boundMs, outcome, writes }) => {
  test("ends the runs of clients of every version in time, with what became of their calls", async () => {
    await using host = await startHost({ timeoutMs: CALL_MS });
    await using server = await startNodeServer(host.handler);
    await using clients = startClientProcess(server.url);
    await clients.seen("TEXT_MESSAGE_CONTENT");
    await die(host, clientVersions.length);
    const ended = await within(boundMs + AT_ONCE_MS, "the end of the runs", clients.ended());
    expect(ended).toEqual({ code: 0, stderr: "" });
    for (const version of clientVersions) {
      const lines = clients.lines.filter((line) => line.version === version);
      const [last, settled] = lines.slice(-2);
      expect(last?.code ?? last?.type).toBe(end);
      if (says !== undefined) expect(last?.message).toMatch(says);
      expect(settled).toEqual({ version, type: "settled" });
    }
    expect(host.problems).toMatchObject(outcome === undefined ? [] : clientVersions.map(() => ({ outcome })));
    expect(host.written()).toBe(writes * clientVersions.length);
  });

  test("ends a body that a server reads, likewise", async () => {
    await using host = await startHost({ timeoutMs: CALL_MS });
    const begun = Promise.withResolvers<void>();
    const { body } = await host.handler(webRequest());
    const all = readAll(body, (text) => text.includes("Let me see") && begun.resolve());
    await begun.promise;
    await die(host, 1);
    const text = await within(boundMs + AT_ONCE_MS, "the end of the run", all);
    expect(endOf(text)).toBe(end);
    if (says !== undefined) expect(JSON.parse(text.trimEnd().split("data: ").at(-1) ?? "").message).toMatch(says);
    expect(host.problems).toMatchObject(outcome === undefined ? [] : [{ outcome }]);
    expect(text).not.toContain(String(host.relay.port));
    expect(host.written()).toBe(writes);
  });
});

describe("a relay that dies during a call", () => {
  test("ends the run after 30 s, where nobody said how long a call may take", async () => {
    await using host = await startHost({});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { body } = await host.handler(webRequest());
    let text = "";
    const all = readAll(body, (some) => {
      text = some;
    });
    const { there } = host.hold("arrived", 1);
    host.goOn();
    await there;
    await host.relay.kill();
    await vi.advanceTimersByTimeAsync(29_900);
    expect(text).not.toContain("RUN_ERROR");
    await vi.advanceTimersByTimeAsync(101);
    vi.useRealTimers();
    expect(endOf(await within(AT_ONCE_MS, "the end of the run", all))).toBe("HUMAN_PLUS_RELAY_TIMEOUT");
    expect(host.problems).toMatchObject([{ outcome: "unknown" }]);
  });

  test("ends the run when the time of its request is up, however long the call may take", async () => {
    await using host = await startHost({ timeoutMs: 600_000, limits: { requestTimeoutMs: CALL_MS } });
    const { body } = await host.handler(webRequest());
    const all = readAll(body);
    const { there } = host.hold("arrived", 1);
    host.goOn();
    await there;
    await host.relay.kill();
    expect(endOf(await within(CALL_MS + AT_ONCE_MS, "the end of the run", all))).toBe("HUMAN_PLUS_AG_UI_TIMEOUT");
    await expectNoTurn(host);
  });

  test.each([
    ["a client that goes away", false],
    ["a server that shuts down", true],
  ])("does not hold up %s", async (_, isShutdown) => {
    if (!isShutdown) cutOff("its client goes away");
    await using host = await startHost({ timeoutMs: 600_000 });
    const { body } = await host.handler(webRequest());
    const { there } = host.hold("arrived", 1);
    host.goOn();
    if (isShutdown) {
      const all = readAll(body);
      await there;
      await host.relay.kill();
      await within(AT_ONCE_MS, "close", host.handler.close());
      expect(endOf(await within(AT_ONCE_MS, "the end of the run", all))).toBe("HUMAN_PLUS_AG_UI_SHUTDOWN");
    } else {
      await there;
      await host.relay.kill();
      await within(AT_ONCE_MS, "the cancellation", body?.cancel() ?? Promise.reject());
    }
    await expectNoTurn(host);
  });

  /** A call was aborted, so that the next of its attachment does not wait for its turn. */
  async function expectNoTurn({ boards }: Host): Promise<void> {
    const next = boards[0]?.call("board_read", {}, { timeoutMs: CALL_MS }) ?? Promise.resolve();
    const code = next.then(
      () => "none",
      (error: { code: string }) => error.code,
    );
    expect(await within(CALL_MS + AT_ONCE_MS, "the next call", code)).toMatch(/^relay_unreachable$/);
  }
});
