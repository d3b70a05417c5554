import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { RELAY_FILE } from "./load.ts";
import { type Problem, pointerTo } from "./problem.ts";

const compileCache = join(import.meta.dirname, "../../../node_modules/.cache/codegen");

/**
 * What the official parser has to say about the AsyncAPI document. It takes most of a generation's time, so it runs
 * in a thread of its own beside the printing. The signal ends the thread; the promise then stays open.
 */
export async function asyncApiProblems(specDirectory: string, signal?: AbortSignal): Promise<Problem[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { path: join(specDirectory, RELAY_FILE) } });
  signal?.addEventListener("abort", () => void worker.terminate(), { once: true });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

async function judge(path: string): Promise<Problem[]> {
  enableCompileCache(compileCache); // several hundred files: compiled once, they load in a fraction of the time
  const { fromFile, Parser } = await import("@asyncapi/parser");
  const { document, diagnostics } = await fromFile(new Parser(), path).parse();
  const warning = 1; // 0 error, 1 warning, 2 information, 3 hint
  const problems = diagnostics
    .filter(({ severity }) => severity <= warning)
    .map((diagnostic) => ({ file: RELAY_FILE, pointer: pointerTo(...diagnostic.path), message: diagnostic.message }));
  if (document === undefined && problems.length === 0)
    problems.push({ file: RELAY_FILE, pointer: "", message: "no AsyncAPI document" });
  return problems;
}

if (!isMainThread && parentPort !== null) parentPort.postMessage(await judge((workerData as { path: string }).path));
