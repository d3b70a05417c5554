import { defineConfig } from "vitest/config";
import { createTotalReporter } from "../../tools/test-summary/total-reporter.ts";

export default defineConfig({
  test: {
    name: "hosts",
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    environment: "node",
    execArgv: ["--disable-warning=HUMAN_PLUS_UNVERIFIED_EGRESS"],
    setupFiles: ["./loopback-only.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ["default", createTotalReporter()],
    passWithNoTests: false,
  },
});
