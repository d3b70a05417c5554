// Writes packages/core/src/gen from spec/; with --check, fails when what is committed differs.
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { findDrift, generate, writeFiles } from "./generate.ts";
import { SpecError } from "./problem.ts";

const root = join(import.meta.dirname, "../../..");
const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    spec: { type: "string", default: join(root, "spec") },
    out: { type: "string", default: join(root, "packages/core/src/gen") },
  },
});
const { check, spec, out } = values;

try {
  const files = await generate({
    specDirectory: spec,
    formatConfig: join(import.meta.dirname, "../generated-format.json"),
  });
  const target = relative(process.cwd(), out);
  if (check) {
    const drifted = await findDrift(files, out);
    if (drifted.length > 0) {
      console.error(`${target} is not what spec/ generates: ${drifted.join(", ")}.`);
      console.error("Run `npm run generate` and commit the result; generated files are never edited by hand.");
      process.exitCode = 1;
    }
  } else {
    const written = await writeFiles(files, out);
    console.log(written.length === 0 ? `${target} is up to date` : `${target}: wrote ${written.join(", ")}`);
  }
} catch (error) {
  if (!(error instanceof SpecError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
