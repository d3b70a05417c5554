import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const packageDirectory = join(import.meta.dirname, "../packages/surface");

/** Calls the tool of the example as an agent does, and prints what the feed then says. */
const epilogue = `
const call = (name: string, args: object) =>
  new Promise<void>((resolve) => {
    const channel = surface.open((text) => {
      const { id, result } = JSON.parse(text);
      if (id === undefined) return;
      process.stdout.write(\`\${result.content[0].text}\\n\`);
      resolve();
    });
    const _meta = { "human-plus/participant": { id: "tidy" } };
    const params = { name, arguments: args, _meta };
    channel.receive(JSON.stringify({ jsonrpc: "2.0", id: name, method: "tools/call", params }));
  });
await call("move_card", { card: "budget", x: 80 });
await call("changes_since", {});
surface.close();
`;

test.each(["yjs", "store"])("the example of the binding to a %s runs, and tells people from agents", async (name) => {
  const readme = await readFile(join(packageDirectory, "README.md"), "utf8");
  const example = new RegExp(`\`\`\`ts ${name}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? "";
  expect(example).toContain("move_card");
  const folder = await mkdtemp(join(packageDirectory, "test/readme-"));
  try {
    const file = join(folder, "example.ts");
    await writeFile(file, example + epilogue);
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=human-plus-source", file]);
    const [moved, feed] = stdout.trim().split("\n");
    expect(moved).toBe("moved");
    expect(JSON.parse(feed ?? "").changes).toEqual([
      { handle: "budget", kind: name === "yjs" ? "created" : "updated", actor: "human", label: "Budget" },
      {
        handle: "budget",
        kind: name === "yjs" ? "moved" : "updated",
        actor: "agent",
        ...(name === "store" && { label: "Budget" }),
      },
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
