import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copyContract, type Edit, editContract, scratchDirectory } from "./contract.ts";

const main = join(import.meta.dirname, "../src/diff.ts");

const withoutName: Edit = {
  surface: (s) => {
    delete s.Actor.properties.name;
    s.Actor.required = ["id", "type"];
  },
};

/** A repository that holds one commit of the contract. */
function repository() {
  const scratch = scratchDirectory();
  const spec = join(scratch.path, "spec");
  mkdirSync(spec);
  copyContract(spec);
  editContract(spec, { relay: (r) => (r.info.version = "1.0.0") });
  const git = (...args: string[]) => {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    execFileSync("git", [...identity, ...args], { cwd: scratch.path, stdio: "pipe" });
  };
  git("init", "--quiet");
  git("add", "spec");
  git("commit", "--quiet", "--no-gpg-sign", "--message", "Add the contract");
  return {
    git,
    edit: (change: Edit) => editContract(spec, change),
    diff: (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, "--spec", spec, ...args], {
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    },
    [Symbol.dispose]: () => scratch[Symbol.dispose](),
  };
}

describe("contract:diff", () => {
  test("a removed required field breaks its readers, and is refused until the major version is raised", () => {
    using repo = repository();
    repo.edit(withoutName);
    const refused = repo.diff();
    expect(refused.status, refused.stderr).toBe(1);
    expect(refused.stdout).toContain("breaking    surface.schema.json#/definitions/Actor/properties/name");
    expect(refused.stdout).toMatch(/breaks senders: agent; readers: surface, relay/);
    expect(refused.stdout).toContain("raise info.version of spec/relay.asyncapi.yaml to 2.0.0");

    repo.edit({ relay: (r) => (r.info.version = "2.0.0") });
    const raised = repo.diff();
    expect(raised.status, raised.stderr).toBe(0);
    expect(raised.stdout).toContain("1 change, 1 of them breaking");
  });

  test("a compatible change passes, as JSON too", () => {
    using repo = repository();
    repo.edit({ surface: (s) => s.ChangeRow.properties.handle["x-read-from"].push("slug") });
    const { status, stdout, stderr } = repo.diff("HEAD", "--json");
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      before: { ref: "HEAD", version: "1.0.0" },
      after: { version: "1.0.0" },
      changes: [
        {
          file: "surface.schema.json",
          pointer: "/definitions/ChangeRow/properties/handle/x-read-from",
          subject: "ChangeRow",
          what: 'handle: x-read-from: alias "slug" added',
          verdict: "compatible",
          level: "minor",
          breaks: { senders: [], readers: [] },
          parties: { senders: ["surface"], readers: ["agent", "relay"] },
        },
      ],
      neededVersion: "1.1.0",
      isRefused: false,
    });
  });

  test("the latest tag of a contract version is what is compared with", () => {
    using repo = repository();
    repo.git("tag", "contract-v1.9.0");
    repo.edit(withoutName);
    repo.git("commit", "--quiet", "--no-gpg-sign", "--all", "--message", "Drop the name");
    repo.git("tag", "contract-v1.10.0");
    expect(repo.diff().stdout).toBe("contract 1.0.0 (contract-v1.10.0) -> 1.0.0 (working tree)\n\nno changes\n");
    expect(repo.diff("contract-v1.9.0").status).toBe(1);
  });

  test("a ref that does not exist is a mistake of its own", () => {
    using repo = repository();
    const { status, stderr } = repo.diff("contract-v9.9.9");
    expect(status).toBe(2);
    expect(stderr).toBe("contract-v9.9.9 is no commit, tag or branch of this repository\n");
  });
});
