import { help, parseDemoOptions } from "./demo-options.ts";
import { runHeadless } from "./headless/run-headless.ts";
import { joinPage } from "./join-page.ts";
import { runDemo } from "./run-demo.ts";
import { serveDemo } from "./serve-demo.ts";

await runDemo({
  command: "npm run demo",
  async start({ args, ...context }) {
    const options = parseDemoOptions(args);
    switch (options.mode) {
      case "help":
        process.stdout.write(`${help}\n`);
        return true;
      case "serve":
        await serveDemo({ ...options, ...context });
        return true;
      case "join":
        await joinPage({ ...options, ...context });
        return true;
      case "headless":
        return runHeadless({ ...options, ...context });
      default:
        return options satisfies never;
    }
  },
});
