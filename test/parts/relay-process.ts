import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const cli = join(import.meta.dirname, "../../packages/relay/src/cli.ts");

export interface RelayProcess extends AsyncDisposable {
  readonly baseUrl: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Ends it as a crash does, at once. */
  kill(): Promise<void>;
}

/** The relay by its own command line, in a process of its own. */
export async function startRelayProcess(args: readonly string[] = ["--port", "0"]): Promise<RelayProcess> {
  const child = spawn(process.execPath, ["--conditions=human-plus-source", cli, "--log-level", "error", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`the relay ended with ${code}`))),
  ])) as [string];
  const baseUrl = /http:\S+/.exec(line)?.[0];
  if (baseUrl === undefined) throw new Error(`the relay does not say where it listens: ${line}`);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { baseUrl, port: Number(new URL(baseUrl).port), process: child, kill, [Symbol.asyncDispose]: kill };
}
