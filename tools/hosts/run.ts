import { spawnSync } from "node:child_process";
import { join } from "node:path";

// The hosts that our adapters are tried in are large, so they have a folder and a lock of their own, outside the default
// install. Our packages are installed there as copies of what would be published: so the tests meet what users meet.

const root = join(import.meta.dirname, "../..");
const hosts = join(root, "test/hosts");
const windows = process.platform === "win32";

function run(command: string, args: string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit", shell: windows, env });
  if (status !== 0) process.exit(status ?? 1);
}

const env = { ...process.env, DO_NOT_TRACK: "1", COPILOTKIT_TELEMETRY_DISABLED: "true" };

run("npm", ["run", "build", "--silent"], root);
run("npm", ["ci", "--prefer-offline", "--loglevel=error"], hosts);
run("tsc", ["-p", "tsconfig.json"], hosts);
run("vitest", ["run", "--config", join(hosts, "vitest.config.ts"), ...process.argv.slice(2)], root);
