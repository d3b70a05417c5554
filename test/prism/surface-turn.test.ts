import { surfaceTurn } from "@human-plus/adapter-prism";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { call, startPrismAgent, transports } from "./parts/prism-agent.ts";

const textOf = (message: { content: readonly { text?: string }[] } | undefined) => message?.content[0]?.text ?? "";

describe.each(transports)("over %s", (_, createTransport) => {
  test("a person who drags during a run is named in the refused call, and in the next run's first message", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [
        { calls: [call("c1", "canvas_read")] },
        () => {
          canvas.personMoves("budget", 7, 7);
          return { calls: [call("c2", "canvas_move", { card: "budget", x: 1, y: 1 })] };
        },
        { text: "I leave it" },
        { text: "Seen" },
        { text: "Calm" },
      ],
    });
    const { humanPlus, attachmentId, provider, session } = agent;
    const begin = () => surfaceTurn({ humanPlus, owner: "me", attachmentId });
    const user = { role: "user" as const, content: [{ type: "text" as const, text: "Tidy up" }] };

    await session.run([...(await begin()).messages, user]);
    const refused = provider.read("c2") ?? "";
    expect(refused).toMatch(/surface_changed_under_you/);
    expect(refused).toMatch(/\\?"budget\\?": moved by a person/);
    expect(refused).toMatch(/Do not repeat this call/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7, y: 7 });

    const second = await begin();
    expect(second.messages).toHaveLength(1);
    expect(second.leaveAlone).toEqual(["budget"]);
    await session.run([...second.messages, user]);
    const shown = provider.requests.at(-1)?.messages.at(-2);
    expect(shown).toMatchObject({ role: "user" });
    expect(shown?.text).toMatch(/"budget": moved by a person[\s\S]*Leave alone/);

    const third = await begin();
    expect([third.text, third.messages, third.leaveAlone]).toEqual(["", [], []]);
    const before = session.entries().length;
    await session.run([...third.messages, user]);
    expect(session.entries()).toHaveLength(before + 2); // what was asked, and what was answered
  });
});

describe("a turn", () => {
  const [[, createTransport]] = transports;
  const steps = [{ calls: [call("c1", "canvas_read")] }];

  test("is a system message where the host says so, and can be told from people by its metadata", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({ surface: canvas, createTransport, steps });
    const { humanPlus, attachmentId } = agent;
    await agent.session.run("go");
    canvas.personMoves("budget", 7, 7);
    const turn = await surfaceTurn({ humanPlus, owner: "me", attachmentId, role: "system" });
    expect(turn.messages).toEqual([
      { role: "system", content: [{ type: "text", text: turn.text }], metadata: { humanplus: { about: "turn" } } },
    ]);
  });

  test("protects what people changed until it ends", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [...steps, {}, { calls: [call("c2", "canvas_move", { card: "budget", x: 1, y: 1 })] }],
    });
    const { humanPlus, attachmentId, provider, session } = agent;
    await session.run("go");
    canvas.personMoves("budget", 7, 7);
    const handlesOf = (_: string, { card }: { card?: unknown }) => (card === undefined ? [] : [String(card)]);
    using turn = await surfaceTurn({ humanPlus, owner: "me", attachmentId, protect: true, handlesOf });
    await session.run(turn.messages);
    expect(provider.read("c2")).toMatch(/deferred_to_person/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7 });
  });

  test("is bounded in bytes, and the words of the surface in it stay framed", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({ surface: canvas, createTransport, steps });
    const { humanPlus, attachmentId } = agent;
    await agent.session.run("go");
    for (let n = 0; n < 50; n++)
      canvas.surface.commit({ handle: `card ${n}`, kind: "created", label: "é".repeat(200) }, () => undefined);
    const turn = await surfaceTurn({ humanPlus, owner: "me", attachmentId, maxTextBytes: 2048 });
    expect(Buffer.byteLength(turn.text)).toBeLessThanOrEqual(2048);
    expect(textOf(turn.messages[0])).toMatch(
      /nonce="([0-9a-f]{16})">\n[\s\S]*\[shortened\]\n<\/surface-data nonce="\1">/,
    );
    expect(turn.leaveAlone).toHaveLength(50);
  });

  test("refuses a bound that is none", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({ surface: canvas, createTransport, steps: [] });
    const { humanPlus, attachmentId } = agent;
    await expect(surfaceTurn({ humanPlus, owner: "me", attachmentId, maxTextBytes: 0 })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("maxTextBytes"),
    });
  });
});
