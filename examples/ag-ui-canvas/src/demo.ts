import { runDemo } from "../../shared-canvas/src/run-demo.ts";
import { help, parseDemoOptions } from "./demo-options.ts";
import { runHeadless } from "./headless/run-headless.ts";
import { serveDemo } from "./serve-demo.ts";

await runDemo({
  command: "npm run demo:ag-ui",
  async start({ args, ...context }) {
    const options = parseDemoOptions(args);
    switch (options.mode) {
      case "help":
        process.stdout.write(`${help}\n`);
        return true;
      case "serve":
        await serveDemo({ ...options, ...context });
        return true;
      case "headless":
        return runHeadless({ ...options, ...context });
      default:
        return options satisfies never;
    }
  },
});
