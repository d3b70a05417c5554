import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadSpec, RELAY_FILE, type Spec, SURFACE_FILE } from "./load.ts";

/** There is no earlier contract to compare with, or none that can be read. */
export class EarlierContractError extends Error {
  override readonly name = "EarlierContractError";
}

const TAGS = "contract-v*";
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The latest tag of a contract version, or else the last commit. */
export async function defaultRef(specDirectory: string): Promise<string> {
  const tags = await git(specDirectory, ["tag", "--list", TAGS, "--sort=-version:refname"]);
  return tags.split("\n")[0] || "HEAD";
}

/** The contract as it was at a commit, a tag or a branch. @throws EarlierContractError */
export async function loadSpecAt(ref: string, specDirectory: string): Promise<Spec> {
  const commit = await git(specDirectory, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`])
    .then((text) => text.trim())
    .catch((cause: unknown) => {
      throw new EarlierContractError(`${ref} is no commit, tag or branch of this repository`, { cause });
    });
  const scratch = await mkdtemp(join(tmpdir(), "human-plus-contract-"));
  try {
    for (const file of [SURFACE_FILE, RELAY_FILE]) {
      const text = await git(specDirectory, ["show", `${commit}:./${file}`]).catch((cause: unknown) => {
        throw new EarlierContractError(`there is no ${file} in spec/ at ${ref}`, { cause });
      });
      await writeFile(join(scratch, file), text);
    }
    return await loadSpec(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function git(directory: string, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", args, { cwd: directory, maxBuffer: MAX_FILE_BYTES });
  return stdout;
}
