import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Licences a production dependency may have. */
const accepted = new Set(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD", "BlueOak-1.0.0"]);

interface Locked {
  license?: string;
  link?: boolean;
  resolved?: string;
  private?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const root = join(import.meta.dirname, "../..");
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));

/** Where a package finds a dependency: the nearest node_modules on the way up. */
function locate(from: string, name: string): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf("/")))) {
    const path = base === "" ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    const locked = lock.packages[path];
    if (locked !== undefined) return locked.link === true ? locked.resolved : path;
    if (base === "") return undefined;
  }
}

const queue = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path));
const seen = new Set(queue);
const refused: string[] = [];
for (const path of queue) {
  const locked = lock.packages[path] ?? {};
  // The choice "A OR B" is fine when one of the two is, and "A AND B" when both are. Nothing here nests them.
  const choices = (locked.license ?? "none").replace(/[()]/g, "").split(" OR ");
  const isAccepted = choices.some((choice) => choice.split(" AND ").every((license) => accepted.has(license)));
  if (!isAccepted) refused.push(`${path}: ${locked.license ?? "no license named"}`);
  for (const name of Object.keys({ ...locked.dependencies, ...locked.peerDependencies })) {
    const found = locate(path, name);
    if (found === undefined || seen.has(found)) continue;
    seen.add(found);
    queue.push(found);
  }
}

if (refused.length > 0) {
  console.error(`production dependencies with a licence that is not accepted:\n${refused.join("\n")}`);
  process.exitCode = 1;
} else {
  console.log(`licences of ${queue.length} production packages are accepted`);
}
