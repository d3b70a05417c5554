import { describe, expect, test } from "vitest";
import { StalePinError, type Surface, ToolError } from "../src/index.ts";
import { createBoard } from "./board.ts";
import { feedOf, joinLocally, refusalOf, revisionOf, textOf } from "./local-agent.ts";

/** A handler that stops where the test wants. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

describe("a commit", () => {
  test("is checked when it is made, not when the call came", async () => {
    const { surface, rename, cards } = createBoard();
    const { passed, open } = gate();
    surface.tool({
      name: "slow",
      touches: ["a"],
      async handler(_, call) {
        await passed;
        call.commit({ handle: "a", kind: "updated" }, () => cards.set("a", { title: "Slow" }));
        return "done";
      },
    });
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    const pending = agent.call("slow", {}, { revision });
    rename("a", "Mine");
    open();
    expect(refusalOf(await pending)?.rows).toEqual(["a updated human"]);
    expect(cards.get("a")?.title).toBe("Mine");
  });

  test.each([
    ["recorded", (surface: Surface) => surface.recordChange({ handle: "b", kind: "updated" })],
    ["committed", (surface: Surface) => surface.commit({ handle: "b", kind: "updated" }, () => undefined)],
  ])("is over when listeners hear of it: what they have %s counts", async (_, follow) => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    const stop = surface.subscribe(() => {
      stop();
      follow(surface);
    });
    rename("a", "Mine");
    expect(refusalOf(await agent.call("rename", { card: "b", title: "Yours" }, { revision }))?.rows).toEqual([
      "b updated human",
    ]);
  });

  test("is checked again after an await, and what was written before stays and is said", async () => {
    const { surface, rename, cards } = createBoard();
    const { passed, open } = gate();
    surface.tool({
      name: "twice",
      touches: ["a"],
      async handler(_, call) {
        call.commit({ handle: "a", kind: "updated" }, () => cards.set("a", { title: "1" }));
        await passed;
        call.commit({ handle: "a", kind: "updated" }, () => cards.set("a", { title: "2" }));
        return "done";
      },
    });
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    const pending = agent.call("twice", {}, { revision });
    rename("a", "Mine");
    open();
    const answer = await pending;
    expect(answer.error).toBeUndefined();
    expect(answer.result?.["isError"]).toBe(true);
    expect(textOf(answer)).toContain("already written a part");
    expect(cards.get("a")?.title).toBe("Mine");
  });

  test("of changes that touch more than the tool said is checked for those too", async () => {
    const { surface, rename } = createBoard();
    surface.tool({
      name: "sly",
      touches: [],
      handler: (_, call) => call.commit({ handle: "a", kind: "updated" }, () => "done"),
    });
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("a", "Mine");
    expect(refusalOf(await agent.call("sly", {}, { revision }))).toBeDefined();
  });

  test("whose apply throws leaves no change and no new marker", async () => {
    const { surface, errors } = createBoard();
    surface.tool({
      name: "break",
      touches: ["a"],
      handler: (_, call) =>
        call.commit({ handle: "a", kind: "updated" }, () => {
          throw new Error("secret detail");
        }),
    });
    const agent = joinLocally(surface, "tidy");
    const before = surface.revision();
    const answer = await agent.call("break");
    expect(answer.result?.["isError"]).toBe(true);
    expect(JSON.stringify(answer)).not.toContain("secret detail");
    expect(errors).toHaveLength(1);
    expect(surface.revision()).toBe(before);
    expect(feedOf(await agent.call("changes_since")).rows).toEqual([]);
  });

  test("whose apply is asynchronous is refused and recorded nowhere", async () => {
    const { surface, errors } = createBoard();
    surface.tool({
      name: "later",
      handler: (_, call) => void call.commit({ handle: "a", kind: "updated" }, async () => {}),
    });
    const agent = joinLocally(surface);
    expect((await agent.call("later")).result?.["isError"]).toBe(true);
    expect(String(errors[0])).toContain("synchronous");
    expect(feedOf(await agent.call("changes_since")).rows).toEqual([]);
  });

  test("inside another one's apply is refused, and a change recorded there becomes a part of it", async () => {
    const { surface } = createBoard();
    expect(() =>
      surface.commit({ handle: "a", kind: "updated" }, () =>
        surface.commit({ handle: "b", kind: "updated" }, () => {}),
      ),
    ).toThrow("inside the apply");
    surface.commit({ handle: "a", kind: "updated" }, () => surface.recordChange({ handle: "b", kind: "moved" }), {
      by: { type: "system" },
    });
    const agent = joinLocally(surface);
    expect(feedOf(await agent.call("changes_since")).rows).toEqual(["a updated other", "b moved other"]);
  });

  test("is refused from a tool that says it touches nothing, and after the answer", async () => {
    const { surface, errors } = createBoard();
    let late = () => {};
    surface.tool({ name: "liar", touches: "none", handler: (_, call) => call.commit([], () => "wrote") });
    surface.tool({
      name: "late",
      handler: (_, call) => {
        late = () => call.commit([], () => {});
        return "answered";
      },
    });
    const agent = joinLocally(surface);
    expect((await agent.call("liar")).result?.["isError"]).toBe(true);
    expect(String(errors[0])).toContain("touches nothing");
    expect(textOf(await agent.call("late"))).toBe("answered");
    expect(late).toThrow("already answered");
  });

  test("takes only handles that can be named", () => {
    const { surface } = createBoard();
    for (const handle of ["", " ", "x".repeat(257)])
      expect(() => surface.recordChange({ handle, kind: "updated" })).toThrow(TypeError);
  });
});

describe("errors of handlers", () => {
  test("a ToolError is for the agent, any other error for the application", async () => {
    const { surface, errors } = createBoard();
    surface.tool({
      name: "tell",
      handler: () => {
        throw new ToolError("There is no card of that name.");
      },
    });
    surface.tool({
      name: "crash",
      handler: async () => {
        throw new Error("password=1234");
      },
    });
    const agent = joinLocally(surface);
    expect(textOf(await agent.call("tell"))).toBe("There is no card of that name.");
    const crashed = await agent.call("crash");
    expect(textOf(crashed)).toBe("The tool failed.");
    expect(JSON.stringify(crashed)).not.toMatch(/1234|\.ts:/);
    expect(errors).toHaveLength(1);
  });

  test("assertFresh refuses before the work is done", async () => {
    const { surface, rename } = createBoard();
    let worked = false;
    surface.tool({
      name: "costly",
      touches: ["a"],
      handler: (_, call) => {
        call.assertFresh();
        worked = true;
        return "done";
      },
    });
    const agent = joinLocally(surface);
    const revision = revisionOf(await agent.call("read"));
    rename("a", "Mine");
    expect(refusalOf(await agent.call("costly", {}, { revision }))).toBeDefined();
    expect(worked).toBe(false);
  });

  test("a handler may catch the refusal and do something else", async () => {
    const { surface, rename } = createBoard();
    surface.tool({
      name: "polite",
      touches: ["a"],
      handler: (_, call) => {
        try {
          return call.commit({ handle: "a", kind: "updated" }, () => "wrote");
        } catch (error) {
          if (!(error instanceof StalePinError)) throw error;
          return `left ${error.changes[0]?.handle} alone`;
        }
      },
    });
    const agent = joinLocally(surface);
    const revision = revisionOf(await agent.call("read"));
    rename("a", "Mine");
    expect(textOf(await agent.call("polite", {}, { revision }))).toBe("left a alone");
  });

  test("parse refuses arguments, with a word for the agent only from a ToolError", async () => {
    const { surface } = createBoard();
    surface.tool<{ n: number }>({
      name: "count",
      parse: ({ n }) => {
        if (typeof n !== "number") throw new ToolError("n is a number.");
        if (n < 0) throw new RangeError("internal");
        return { n };
      },
      handler: ({ n }) => String(n + 1),
    });
    const agent = joinLocally(surface);
    expect(textOf(await agent.call("count", { n: 1 }))).toBe("2");
    expect(textOf(await agent.call("count", { n: "1" }))).toBe("n is a number.");
    expect(textOf(await agent.call("count", { n: -1 }))).toBe("The arguments are not what the tool takes.");
  });
});

describe("a fingerprint", () => {
  test("shows what changed outside a commit, and names when it was seen", async () => {
    let version = 0;
    const { surface, errors } = createBoard({ fingerprint: () => version });
    surface.tool({
      name: "sneaky",
      handler: () => {
        version++;
        return "done";
      },
    });
    const agent = joinLocally(surface);
    surface.commit({ handle: "a", kind: "updated" }, () => version++);
    version++;
    surface.recordChange({ handle: "a", kind: "updated" });
    expect(errors).toEqual([]);
    await agent.call("sneaky");
    expect(errors.map(String)).toEqual(["Error: state changed outside a commit, seen at: sneaky"]);
    version++;
    surface.commit({ handle: "a", kind: "updated" }, () => version++);
    expect(String(errors[1])).toContain("before a commit");
  });

  test("shows an apply that changed something and then threw", () => {
    let version = 0;
    const { surface, errors } = createBoard({ fingerprint: () => version });
    expect(() =>
      surface.commit({ handle: "a", kind: "updated" }, () => {
        version++;
        throw new Error("half done");
      }),
    ).toThrow("half done");
    expect(String(errors[0])).toContain("an apply that threw");
  });
});
