import { watchSurface } from "@human-plus/adapter-prism";
import type { HumanPlus } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "../parts/live-canvas.ts";
import { personDrags } from "./parts/person.ts";
import { call, type PrismAgent, type PrismAgentOptions, startPrismAgent, transports } from "./parts/prism-agent.ts";

const PERSON = /A person is working on the live surface at this moment/;
const GONE = /The live surface is gone/;

const watch = ({ session, humanPlus, attachmentId }: PrismAgent, more: object = {}) =>
  watchSurface(session, { humanPlus, owner: "me", attachmentId, ...more });
const steered = ({ provider }: PrismAgent, words: RegExp, turn = -1) =>
  (provider.requests.at(turn)?.messages ?? []).filter(({ text }) => words.test(text));

const reading = [{ calls: [call("c1", "canvas_read")] }];
/** The model reads again, once something has happened. */
const readsAfter =
  (happens: () => Promise<void>, id = "c2") =>
  async () => {
    await happens();
    return { calls: [call(id, "canvas_read")] };
  };

describe.each(transports)("over %s", (_, createTransport) => {
  test("a person who takes over is told to a running model once before its next turn, however much they do", async () => {
    await using canvas = await startLiveCanvas();
    await using agent: PrismAgent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [
        ...reading,
        readsAfter(() => personDrags(canvas, agent, 4)),
        readsAfter(() => personDrags(canvas, agent), "c3"),
      ],
    });
    using watching = await watch(agent);
    expect(watching).toBeDefined();
    await agent.session.run("go");
    expect(steered(agent, PERSON, 1)).toEqual([]);
    expect(steered(agent, PERSON, 2)).toHaveLength(1);
    expect(steered(agent, PERSON, 3)).toHaveLength(2);
    expect(agent.of("queue_updated").map(({ size }) => size)).toEqual([1, 1]);
  });

  test("a surface that goes away is told to a running model", async () => {
    await using canvas = await startLiveCanvas();
    await using agent: PrismAgent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [
        ...reading,
        readsAfter(async () => {
          const ended = new Promise<void>((resolve) => void agent.humanPlus.on("attachmentEnded", () => resolve()));
          await canvas.connection.close();
          await ended;
        }),
      ],
    });
    using _watching = await watch(agent);
    await agent.session.run("go");
    expect(steered(agent, GONE)).toHaveLength(1);
    expect(agent.provider.read("c2")).toMatch(/surface_unavailable/);
  });
});

describe("a watch", () => {
  const [[, createTransport]] = transports;
  const start = (surface: LiveCanvas, steps: PrismAgentOptions["steps"] = reading) =>
    startPrismAgent({ surface, createTransport, steps });

  test("says nothing outside a run: the next one begins with a turn", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await start(canvas);
    using _watching = await watch(agent);
    await personDrags(canvas, agent);
    await agent.session.run("go");
    await personDrags(canvas, agent);
    expect(agent.of("queue_updated")).toEqual([]);
  });

  test("says nothing of other attachments", async () => {
    await using canvas = await startLiveCanvas();
    await using other = await startLiveCanvas();
    await using agent: PrismAgent = await start(canvas, [...reading, readsAfter(() => personDrags(other, agent))]);
    const { humanPlus } = agent;
    const { invitation } = other;
    const elsewhere = await humanPlus.attach({
      owner: "me",
      invitation,
      participant: { name: "Tidy" },
      trust: { kind: "every-tool", pins: {} },
    });
    const release = await elsewhere.watch();
    await elsewhere.call("canvas_read");
    using _watching = await watch(agent);
    await agent.session.run("go");
    expect(agent.of("queue_updated")).toEqual([]);
    release();
  });

  test("goes on after a run that failed, and lets nothing of it go unhandled", async () => {
    await using canvas = await startLiveCanvas();
    await using agent: PrismAgent = await start(canvas, [
      () => {
        throw new Error("the provider is down");
      },
      ...reading,
      readsAfter(() => personDrags(canvas, agent)),
    ]);
    using _watching = await watch(agent);
    await expect(agent.session.run("go")).rejects.toMatchObject({ name: "AgentRunError" });
    await agent.session.run("again");
    expect(steered(agent, PERSON)).toHaveLength(1);
  });

  test("offers again what the host did not take, because too much was waiting", async () => {
    await using canvas = await startLiveCanvas();
    const refused: unknown[] = [];
    await using agent: PrismAgent = await start(canvas, [
      ...reading,
      readsAfter(async () => {
        for (let n = 0; n < 8; n++) await agent.session.steer(`note ${n}`);
        await personDrags(canvas, agent);
      }),
      { calls: [call("c3", "canvas_read")] },
    ]);
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    using _watching = await watch(agent, {
      onRefused(error: unknown) {
        refused.push(error);
        throw new Error("the log is full");
      },
    });
    await agent.session.run("go");
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(steered(agent, PERSON, 2)).toEqual([]);
    expect(steered(agent, PERSON, 3)).toHaveLength(1);
  });

  test("leaves nothing behind once it is closed, twice if need be: no subscription, no hold on the leg, no word", async () => {
    await using canvas = await startLiveCanvas();
    await using agent: PrismAgent = await start(canvas, [...reading, readsAfter(() => personDrags(canvas, agent))]);
    const { humanPlus, attachmentId } = agent;
    let holds = 0;
    const counting: HumanPlus = {
      ...humanPlus,
      async watch(owner, id) {
        const release = await humanPlus.watch(owner, id);
        holds++;
        return () => {
          holds--;
          release();
        };
      },
    };
    const before = agent.session.subscribers;
    const watching = await watch(agent, { humanPlus: counting });
    expect([agent.session.subscribers, holds]).toEqual([before + 1, 1]);
    watching.close();
    watching.close();
    expect([agent.session.subscribers, holds]).toEqual([before, 0]);
    const release = await humanPlus.watch("me", attachmentId);
    await agent.session.run("go");
    expect(agent.of("queue_updated")).toEqual([]);
    release();
  });

  test("of an attachment that nobody trusts is refused, and leaves no subscription", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await start(canvas, []);
    const { humanPlus, session } = agent;
    const { id } = await humanPlus.attach({
      owner: "me",
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
    });
    const before = session.subscribers;
    await expect(watchSurface(session, { humanPlus, owner: "me", attachmentId: id })).rejects.toMatchObject({
      code: "trust_undeclared",
    });
    expect(session.subscribers).toBe(before);
  });
});
