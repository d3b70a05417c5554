import { help, parseDemoOptions } from "./demo-options.ts";
import { runHeadless } from "./headless/run-headless.ts";
import { joinPage } from "./join-page.ts";
import { runDemo } from "./run-demo.ts";
import { serveDemo } from "./serve-demo.ts";

await runDemo({
  command: "npm run demo",
  help,
  parse: parseDemoOptions,
  modes: { serve: serveDemo, join: joinPage, headless: runHeadless },
});
