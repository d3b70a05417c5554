import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createAgUiHandler, fromPrism, nodeListener } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { runExample } from "../../parts/readme-example.ts";
import { assertGood } from "../judge.ts";
import { DurableRuns } from "../parts/durable-runs.ts";
import { EventStore } from "../parts/event-source.ts";
import { sessionOf, talkAndCall } from "../parts/prism-session.ts";
import { serve } from "../parts/serve.ts";
import { recordChild } from "../taps/child-recordings.ts";

const folder = join(import.meta.dirname, "../../../packages/adapter-ag-ui");

/** A block of code of the README, by the words behind its fence. */
function example(fence: string): string {
  const block = new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\`\`\``).exec(
    readFileSync(join(folder, "README.md"), "utf8"),
  )?.[1];
  if (block === undefined) throw new Error(`the README shows no ${fence}`);
  return block;
}

/** A folder beside the package, so that imports mean what they mean for a user. */
function createFolder() {
  const path = mkdtempSync(join(folder, "readme-"));
  return {
    write(name: string, text: string) {
      writeFileSync(join(path, name), text);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** The server of the README on a free port, in a process of its own. */
async function startServer(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly child: ChildProcess } & AsyncDisposable> {
  const child = spawn(process.execPath, ["--conditions=human-plus-source", file, "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  let port: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    port = /port: (\d+)/.exec(line)?.[1];
    if (port !== undefined) break;
  }
  return {
    url: `http://127.0.0.1:${port}/`,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describe("the agent behind HTTP", () => {
  test("answers the page that fetches, and stops when it is told to", async () => {
    using files = createFolder();
    using recorded = recordChild();
    await using server = await startServer(files.write("server.ts", example("ts handler")), recorded.env);
    const { ask } = (await import(files.write("page.mjs", example("js fetch-page")))) as {
      ask(url: string, content: string, onEvent: (event: { type: string; delta?: string }) => void): Promise<void>;
    };
    let text = "";
    const types = new Set<string>();
    await ask(server.url, "hello", ({ type, delta = "" }) => {
      types.add(type);
      text += delta;
    });
    expect(text).toBe("You said: hello, Alice");
    expect([...types]).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    const denied = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId: "t", runId: "r", messages: [{ id: "u", role: "user", content: "x" }] }),
    });
    expect(denied.status).toBe(403);
    server.child.kill("SIGTERM");
    expect(await once(server.child, "exit")).toEqual([0, null]);
    expect(recorded.take()).toBe(1);
  });

  test("is good for clients of every version", async () => {
    using files = createFolder();
    await using server = await startServer(files.write("server.ts", example("ts handler")));
    await assertGood({ url: server.url }, { headers: { authorization: "Bearer secret" } });
  });
});

describe("the HttpAgent whose person decides", () => {
  test.each([
    ["approve", 1],
    ["deny", 0],
  ])("%s", async (answer, executed) => {
    const lifecycle = new DurableRuns();
    const handler = createAgUiHandler({
      authorize: ({ request }) => request.headers.get("authorization") === "Bearer secret",
      run: ({ runId }) => fromPrism(lifecycle.start({ runId }, [{ id: "c1", name: "canvas_move" }])),
      interrupts: { lifecycle, resolveRun: ({ runId }) => ({ ref: { runId } }) },
    });
    await using server = await serve(nodeListener(handler));
    const script = example("ts handler-http-agent");
    const { code, output } = await runExample(folder, script, [server.url, answer]);
    expect([code, output.split("\n")[0]]).toEqual([0, "canvas_move wants to write"]);
    expect(lifecycle.executed.length).toBe(executed);
  });
});

test("the handler of runs of Prism runs, waits, goes on and is read again", async () => {
  using files = createFolder();
  const { createHandler } = (await import(files.write("prism.ts", example("ts prism")))) as {
    createHandler(parts: object): ReturnType<typeof createAgUiHandler>;
  };
  const lifecycle = new DurableRuns();
  const events = new EventStore();
  events.append({ ownership: { userId: "alice" }, sessionId: "s", runId: "pr" }, ...talkAndCall());
  const waiting = new Map<string, unknown>([
    ["alice/old", { ref: { sessionId: "s", runId: "pr" }, ownership: { userId: "alice" } }],
  ]);
  const handler = createHandler({
    userOf: () => "alice",
    sessionOf: (_: string, threadId: string) =>
      threadId === "t"
        ? sessionOf(talkAndCall())
        : { stream: () => lifecycle.start({ runId: "pr" }, [{ id: "c1", name: "write" }], { userId: "alice" }) },
    lifecycle,
    events,
    waiting,
  });
  const plain = await assertGood({ handler });
  expect(plain.events.find(({ type }) => type === "TOOL_CALL_ARGS")?.["delta"]).toBe('{"card":"budget"}');
  const { clients } = await assertGood({ handler }, { input: { threadId: "waits", runId: "r7" }, versions: ["1.0.0"] });
  const pendingInterrupts = clients[0]?.pendingInterrupts ?? [];
  const resume = pendingInterrupts.map(({ id }) => ({
    interruptId: id,
    status: "resolved" as const,
    payload: { decision: "approve" },
  }));
  await assertGood(
    { handler },
    { input: { threadId: "waits", runId: "r8", resume }, pendingInterrupts, versions: ["1.0.0"] },
  );
  expect(lifecycle.executed.length).toBe(1);
  await using server = await serve(nodeListener(handler));
  const { events: again } = await assertGood({ url: `${server.url}?cursor=` }, { input: { runId: "old" } });
  expect(again.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta)).toEqual([
    "Hel",
    "lo",
    "Done",
  ]);
});
