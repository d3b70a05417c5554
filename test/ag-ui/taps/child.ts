// Loaded before a program of ours that runs in a process of its own: what its adapter streams is left in a file, for the test to judge.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { toJson } from "./child-recordings.ts";
import { listen, takeRecordings } from "./recordings.ts";
import { taps } from "./tapped-entries.ts";

const file = process.env["AG_UI_RECORDINGS"];
if (file === undefined) throw new Error("AG_UI_RECORDINGS should name a file");

registerHooks({
  resolve(specifier, context, next) {
    const isOurs = context.parentURL?.startsWith(new URL(".", import.meta.url).href);
    const tap = isOurs ? undefined : taps.get(specifier);
    return next(tap ?? specifier, context);
  },
});

const write = (recording: Parameters<typeof toJson>[0]) => appendFileSync(file, `${toJson(recording)}\n`);
listen(write);
process.on("exit", () => {
  for (const recording of takeRecordings().recordings) if (recording.state === "open") write(recording);
});
