import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sendToSurfaceUrl } from "@human-plus/core/protocol";
import { startRelay } from "@human-plus/relay";
import { expect, test } from "vitest";

const packageDirectory = join(import.meta.dirname, "../packages/surface");

test("the example in the README of the surface runs, and agents reach it by its link", async () => {
  await using relay = await startRelay();
  const readme = await readFile(join(packageDirectory, "README.md"), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(example).toContain("http://127.0.0.1:8787/agent-relay");
  const folder = await mkdtemp(join(packageDirectory, "test/readme-"));
  try {
    const file = join(folder, "example.ts");
    const text = example.replace("http://127.0.0.1:8787/agent-relay", relay.url);
    await writeFile(
      file,
      `${text}\nprocess.stdout.write(\`\${link}\\n\`);\nprocess.stdin.once("data", () => connection.close().then(() => process.exit(0)));\n`,
    );
    const child = spawn(process.execPath, ["--conditions=human-plus-source", file], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const link = await new Promise<string>((resolve, reject) => {
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes("\n")) resolve(output.trim());
      });
      child.once("exit", () => reject(new Error(`the example ended after ${JSON.stringify(output)}`)));
    });
    const { pathname, searchParams } = new URL(link);
    const session = pathname.split("/").at(-1) ?? "";
    const token = searchParams.get("token") ?? "";
    const posted = await fetch(sendToSurfaceUrl(relay.url, session, { token, client: "reader" }), {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: "1", method: "ping" }),
    });
    expect(posted.ok).toBe(true);
    child.stdin.write("end\n");
    expect(await exited).toBe(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
