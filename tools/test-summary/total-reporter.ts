import type { Reporter, TestCase, TestModule } from "vitest/node";

interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

/** The closing line of a test run. */
function formatTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Counts tests by result. A file or suite that could not be collected, and an error outside any test, count as one failure each. */
function countTotals(modules: readonly TestModule[], unhandledErrors: number): Totals {
  const totals: Totals = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    totals.failed += module.errors().length;
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
    for (const test of module.children.allTests()) totals[resultOf(test)] += 1;
  }
  return totals;
}

function resultOf(test: TestCase): keyof Totals {
  const { state } = test.result();
  return state === "pending" ? "failed" : state;
}

/**
 * Prints `N passed, N failed, N skipped` as the last line of the output, whatever other reporters print.
 * A run in which no test passed or failed is a failed run: a filter that matches nothing must not look green.
 */
export function createTotalReporter(): Reporter {
  let watching = false;
  return {
    onInit(vitest) {
      watching = vitest.config.watch;
    },
    onTestRunEnd(modules, unhandledErrors) {
      const totals = countTotals(modules, unhandledErrors.length);
      const ran = totals.passed + totals.failed > 0;
      if (watching) {
        process.stdout.write(`${formatTotals(totals)}\n`);
        return;
      }
      process.once("exit", () => {
        if (!ran) process.stdout.write("no test ran\n");
        if (!ran || totals.failed > 0) process.exitCode ||= 1;
        process.stdout.write(`${formatTotals(totals)}\n`);
      });
    },
  };
}
