import type { Change, Parties } from "./diff-change.ts";

/** The outcome of a comparison. */
export interface DiffReport {
  /** What was compared, and the contract versions there. */
  readonly before: { readonly ref: string; readonly version: string };
  readonly after: { readonly version: string };
  readonly changes: readonly Change[];
  /** The lowest version that the changes allow. */
  readonly neededVersion: string;
  /** Something is breaking and the major version was not raised. */
  readonly isRefused: boolean;
}

export function createReport(ref: string, from: string, to: string, changes: readonly Change[]): DiffReport {
  const isRefused = changes.some(({ verdict }) => verdict === "breaking") && majorOf(to) <= majorOf(from);
  const neededVersion = nextVersion(from, changes);
  return { before: { ref, version: from }, after: { version: to }, changes, neededVersion, isRefused };
}

/** The report as people read it. */
export function reportText({ before, after, changes, neededVersion, isRefused }: DiffReport): string {
  const lines = [`contract ${before.version} (${before.ref}) -> ${after.version} (working tree)`, ""];
  for (const change of changes) {
    lines.push(`${change.verdict.padEnd(11)} ${change.file}#${change.pointer}`);
    lines.push(`            ${change.subject}: ${change.what}`);
    lines.push(`            ${partiesText(change)}`);
  }
  if (changes.length === 0) return [...lines, "no changes"].join("\n");
  const breaking = changes.filter(({ verdict }) => verdict === "breaking").length;
  lines.push("", `${count(changes.length, "change")}, ${breaking} of them breaking`);
  if (isRefused) {
    lines.push(
      `This breaks the contract: raise info.version of spec/relay.asyncapi.yaml to ${neededVersion}, or change less.`,
    );
  } else if (isOlder(after.version, neededVersion)) {
    lines.push(`The changes call for contract version ${neededVersion}.`);
  }
  return lines.join("\n");
}

function partiesText({ breaks, parties }: Change): string {
  const hurt = sidesText(breaks);
  const told = `sent by ${parties.senders.join(", ")}; read by ${parties.readers.join(", ")}`;
  return hurt === "" ? told : `breaks ${hurt} (${told})`;
}

function sidesText({ senders, readers }: Parties): string {
  const sides: string[] = [];
  if (senders.length > 0) sides.push(`senders: ${senders.join(", ")}`);
  if (readers.length > 0) sides.push(`readers: ${readers.join(", ")}`);
  return sides.join("; ");
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function nextVersion(version: string, changes: readonly Change[]): string {
  const [major = 0, minor = 0, patch = 0] = partsOf(version);
  const levels = new Set(changes.map(({ level }) => level));
  if (levels.has("major")) return `${major + 1}.0.0`;
  if (levels.has("minor")) return `${major}.${minor + 1}.0`;
  return levels.has("patch") ? `${major}.${minor}.${patch + 1}` : version;
}

function partsOf(version: string): number[] {
  return version.split(/[.+-]/).slice(0, 3).map(Number);
}

function majorOf(version: string): number {
  return partsOf(version)[0] ?? 0;
}

function isOlder(version: string, other: string): boolean {
  return version.localeCompare(other, "en", { numeric: true }) < 0;
}
