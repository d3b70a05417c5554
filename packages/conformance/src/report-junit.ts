import type { CheckResult, Report } from "./report.ts";

/** A report as JUnit XML, as build servers read it: what does not hold is a failure, what cannot be seen is skipped. */
export function reportToJUnit({ subject, results, counts, durationMs, startedAt }: Report): string {
  const name = `human-plus-conformance.${subject}`;
  const totals = `tests="${results.length}" failures="${counts.doesNotHold}" skipped="${counts.unseen}" time="${seconds(durationMs)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="${name}" ${totals} timestamp="${escapeXml(startedAt)}">`,
    ...results.map((result) => testCase(name, result)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(suite: string, result: CheckResult): string {
  const title = escapeXml(`${result.section} ${result.name} (${result.level})`);
  const opening = `    <testcase classname="${suite}" name="${title}" time="${seconds(result.durationMs)}"`;
  switch (result.status) {
    case "holds":
      return `${opening}/>`;
    case "does_not_hold": {
      const text = `PROTOCOL.md section ${result.section}\nexpected: ${result.expected}\nreceived: ${result.received}`;
      return `${opening}><failure message="${escapeXml(result.received)}">${escapeXml(text)}</failure></testcase>`;
    }
    case "unseen":
      return `${opening}><skipped message="${escapeXml(result.reason)}"/></testcase>`;
    default:
      return result satisfies never;
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
