import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The first block of code of a README in one language. */
export function readmeExample(directory: string, language: "js" | "ts"): string {
  const text = readFileSync(join(directory, "README.md"), "utf8");
  const example = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (example === undefined) throw new Error(`${directory}/README.md shows no ${language}`);
  return example;
}

/** Runs a script as it stands, in a process of its own, from beside the package: so its imports mean what they mean for a user. */
export async function runExample(
  directory: string,
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(directory, "readme-"));
  try {
    const file = join(folder, "example.ts");
    writeFileSync(file, script);
    const child = spawn(process.execPath, ["--conditions=human-plus-source", file, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...env },
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = await once(child, "close");
    return { code, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
