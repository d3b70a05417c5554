import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ClientVersion } from "./clients.ts";

/** An event as a client saw it, or `settled` with what its `runAgent` rejected with. */
export interface ClientLine {
  readonly version: ClientVersion;
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly rejection?: string;
}

export interface ClientProcess extends AsyncDisposable {
  readonly process: ChildProcess;
  /** What was seen so far. */
  readonly lines: readonly ClientLine[];
  /** Resolves once every client has seen an event of this type. */
  seen(type: string): Promise<void>;
  /** How the process ended: 0 and nothing on its console unless a rejection was left unhandled, or something else broke. */
  ended(): Promise<{ readonly code: number | null; readonly stderr: string }>;
}

export const clientVersions: readonly ClientVersion[] = ["0.0.57", "0.0.59", "1.0.0"];

/** Clients of every version in a process of their own, which an unhandled rejection would end. */
export function startClientProcess(url: string, { stopAfter = "" } = {}): ClientProcess {
  const main = join(import.meta.dirname, "client-main.ts");
  const child = spawn(process.execPath, ["--conditions=human-plus-source", main, url, stopAfter], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: ClientLine[] = [];
  let waiters: Array<() => void> = [];
  const onNews = () => {
    const told = waiters;
    waiters = [];
    for (const wake of told) wake();
  };
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line) as ClientLine);
    onNews();
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const closed = once(child, "close").then(([code]: unknown[]) => {
    onNews();
    return { code: code as number | null, stderr };
  });
  return {
    process: child,
    lines,
    async seen(type) {
      const isMissing = () =>
        clientVersions.some((version) => !lines.some((line) => line.version === version && line.type === type));
      while (isMissing()) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the clients ended without ${type}: ${JSON.stringify(lines)} ${stderr}`);
        await new Promise<void>((resolve) => void waiters.push(resolve));
      }
    },
    ended: () => closed,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
