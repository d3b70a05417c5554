import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Fault } from "./faults/fault.ts";

const root = join(import.meta.dirname, "../..");

/** The file with the fault in it. @throws Error if the fault no longer fits the file */
export function withFault({ name, file, find, replace }: Fault): string {
  const [before, after, ...more] = readFileSync(join(root, file), "utf8").split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`the fault "${name}" no longer fits ${file}: what it replaces has to stand there exactly once`);
  return `${before}${replace}${after}`;
}

/** Plants a fault into what this process loads from now on. No file is changed. */
export function plantFault(fault: Fault): void {
  const source = withFault(fault);
  const planted = pathToFileURL(join(root, fault.file)).href;
  registerHooks({
    load: (url, context, next) =>
      url === planted ? { format: "module-typescript", source, shortCircuit: true } : next(url, context),
  });
}
