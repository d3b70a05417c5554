import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** The first line it wrote. */
  readonly said: string;
  /** Resident memory, in bytes. */
  rss(): number;
}

/** Starts a script of this folder in a process of its own, and waits until it has said something. */
export async function startChild(script: string, ...args: string[]): Promise<Child> {
  const child = spawn(
    process.execPath,
    ["--conditions=human-plus-source", "--expose-gc", join(import.meta.dirname, script), ...args],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    process: child,
    said,
    rss: () => rssOf(child.pid as number),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** Resident memory of a process, in bytes; Linux only. */
export function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1_024;
}
