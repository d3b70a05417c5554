// Compares spec/ with an earlier commit, tag or branch, and says for whom each change breaks the contract.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildModel } from "./build-model.ts";
import { compareModels } from "./diff-models.ts";
import { createReport, reportText } from "./diff-report.ts";
import { defaultRef, EarlierContractError, loadSpecAt } from "./diff-source.ts";
import { loadSpec } from "./load.ts";
import { SpecError } from "./problem.ts";

const USAGE = "usage: npm run contract:diff -- [commit, tag or branch] [--json]";

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      spec: { type: "string", default: join(import.meta.dirname, "../../../spec") },
    },
  });
  if (positionals.length > 1) throw new TypeError("one ref at most");
  const ref = positionals[0] ?? (await defaultRef(values.spec));
  const before = await loadSpecAt(ref, values.spec)
    .then(buildModel)
    .catch((error: unknown) => {
      throw error instanceof SpecError
        ? new EarlierContractError(`the contract at ${ref}:\n${error.message}`, { cause: error })
        : error;
    });
  const after = buildModel(await loadSpec(values.spec));
  const report = createReport(ref, before.version, after.version, compareModels(before, after));
  console.log(values.json ? JSON.stringify(report, undefined, 2) : reportText(report));
  return report.isRefused ? 1 : 0;
}

try {
  process.exitCode = await run();
} catch (error) {
  const isUsage = error instanceof TypeError;
  if (!isUsage && !(error instanceof EarlierContractError) && !(error instanceof SpecError)) throw error;
  console.error(isUsage ? `${error.message}\n${USAGE}` : error.message);
  process.exitCode = 2;
}
