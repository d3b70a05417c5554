import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

// The command line of AsyncAPI is large and wanted rarely, so it is installed on first use, from its own lock, into a
// folder that git ignores. It runs with a home folder of its own (it writes to shell profiles) and without analytics.

const root = join(import.meta.dirname, "../..");
const lockFolder = join(import.meta.dirname, "lock");
const cache = join(root, ".cache/asyncapi-cli");
const home = join(cache, "home");
const installed = join(cache, "installed");

const env = {
  ...process.env,
  HOME: home,
  USERPROFILE: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_CACHE_HOME: join(home, ".cache"),
  XDG_DATA_HOME: join(home, ".local/share"),
  ASYNCAPI_METRICS: "false",
  SCARF_ANALYTICS: "false",
  DO_NOT_TRACK: "1",
  CI: "true",
  SUPPRESS_NO_CONFIG_WARNING: "1",
  PATH: [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
};

function install(): void {
  const lock = readFileSync(join(lockFolder, "package-lock.json"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  if (existsSync(installed) && readFileSync(installed, "utf8") === wanted) return;
  mkdirSync(home, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(lockFolder, file), join(cache, file));
  console.error("installing the command line of AsyncAPI (once, several minutes)");
  // npm keeps the caller's home: that is where its registry settings are. No install script of the tree runs.
  const npm = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: cache,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) process.exit(npm.status ?? 1);
  writeFileSync(installed, wanted);
}

install();
const manifest = JSON.parse(readFileSync(join(cache, "node_modules/@asyncapi/cli/package.json"), "utf8"));
const bin = join(cache, "node_modules/@asyncapi/cli", manifest.bin.asyncapi);
const run = spawnSync(process.execPath, [bin, ...process.argv.slice(2)], { stdio: "inherit", env });
process.exit(run.status ?? 1);
