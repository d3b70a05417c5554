import type { CheckResult, Report } from "./report.ts";

const WORDS = { holds: "holds", does_not_hold: "DOES NOT HOLD", unseen: "cannot be seen" } as const;

/** A report as text for people: one line for each check, and under it what was seen. */
export function reportToTable(report: Report): string {
  const { subject, target, transport, contract, results, counts, durationMs } = report;
  const width = Math.max(...results.map(({ name }) => name.length), 4);
  const line = (status: string, section: string, level: string, name: string) =>
    `${status.padEnd(14)}  ${section.padEnd(4)}  ${level.padEnd(8)}  ${name.padEnd(width)}`.trimEnd();
  const head = line("", "sec.", "level", "rule");
  return [
    `${subject} ${target}${transport === undefined ? "" : ` over ${transport}`}, contract ${contract}`,
    "",
    head,
    "-".repeat(head.length - 4 + width),
    ...results.flatMap((result) => [
      line(WORDS[result.status], result.section, result.level, result.name),
      ...details(result).map((text) => `${" ".repeat(16)}${text}`),
    ]),
    "",
    `${counts.holds} hold, ${counts.doesNotHold} do not, ${counts.unseen} cannot be seen from outside (${durationMs} ms)`,
    "",
  ].join("\n");
}

function details(result: CheckResult): string[] {
  switch (result.status) {
    case "holds":
      return result.note === undefined ? [] : [result.note];
    case "does_not_hold":
      return [`expected: ${result.expected}`, `received: ${result.received}`];
    case "unseen":
      return [result.reason];
    default:
      return result satisfies never;
  }
}
