import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The sorted names of exported values, by entry of a package. */
export type ExportPins = Record<string, string[]>;

export interface PublishedPackage {
  name: string;
  directory: string;
  /** Entries of the exports map that hold code. */
  entries: { entry: string; source: string; built: string }[];
}

const packages = join(import.meta.dirname, "../../packages");

export function publishedPackages(): PublishedPackage[] {
  const found: PublishedPackage[] = [];
  for (const { name: folder } of readdirSync(packages, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )) {
    const directory = join(packages, folder);
    const manifest = readManifest(directory);
    if (manifest === undefined || manifest.private === true) continue;
    const entries: PublishedPackage["entries"] = [];
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") continue;
      entries.push({ entry, source: target["human-plus-source"] ?? "", built: target.default ?? "" });
    }
    found.push({ name: manifest.name, directory, entries });
  }
  return found;
}

interface Manifest {
  name: string;
  private?: boolean;
  exports: Record<string, string | Record<string, string>>;
}

function readManifest(directory: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** What the package exports now; its sources are loaded, so no build is needed. */
export async function currentPins({ directory, entries }: PublishedPackage): Promise<ExportPins> {
  const pins: ExportPins = {};
  for (const { entry, source } of entries) {
    pins[entry] = Object.keys(await import(join(directory, source))).sort();
  }
  return pins;
}

export function readPins({ directory }: PublishedPackage): ExportPins {
  try {
    return JSON.parse(readFileSync(pinFile(directory), "utf8"));
  } catch {
    return {};
  }
}

export function writePins({ directory }: PublishedPackage, pins: ExportPins): void {
  writeFileSync(pinFile(directory), `${JSON.stringify(pins, null, 2)}\n`);
}

function pinFile(directory: string): string {
  return join(directory, "exports.pin.json");
}
