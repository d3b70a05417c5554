import { runDemo } from "../../shared-canvas/src/run-demo.ts";
import { help, parseDemoOptions } from "./demo-options.ts";
import { runHeadless } from "./headless/run-headless.ts";
import { serveDemo } from "./serve-demo.ts";

await runDemo({
  command: "npm run demo:ag-ui",
  help,
  parse: parseDemoOptions,
  modes: { serve: serveDemo, headless: runHeadless },
});
