import { readFileSync } from "node:fs";
import { UnreachableError } from "../check.ts";
import { checkRelay } from "../relay-checks/check-relay.ts";
import type { Report } from "../report.ts";
import { reportToJUnit } from "../report-junit.ts";
import { reportToTable } from "../report-table.ts";
import { checkSurface } from "../surface-checks/check-surface.ts";
import type { ObservedAct } from "../surface-checks/observation.ts";
import type { WritePlan } from "../surface-checks/write-probe.ts";
import { type Command, readCommand, UsageError } from "./flags.ts";
import { helpText } from "./help-text.ts";

/** @returns the exit code: 0 all holds, 1 something does not, 2 a wrong command line, 3 could not connect */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    const command = readCommand(args);
    if (command.kind === "help") return print(helpText());
    if (command.kind === "version") return print(`${readVersion()}\n`);
    const report = await run(command);
    print(format(report, command.format));
    return report.ok ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\nTry human-plus-conformance --help.`, 2);
    if (error instanceof UnreachableError) return complain(`could not connect: ${error.message}`, 3);
    throw error;
  }
}

function run(command: Exclude<Command, { kind: "help" | "version" }>): Promise<Report> {
  switch (command.kind) {
    case "relay": {
      const { baseUrl, ...options } = command;
      return checkRelay(baseUrl, options);
    }
    case "surface": {
      const { invitation, observeMs, probeWrite, ...options } = command;
      return checkSurface(invitation, {
        ...options,
        observe: observeMs === undefined ? undefined : { timeoutMs: observeMs, act: (act) => prompt(act, observeMs) },
        probeWrite: probeWrite && { ...probeWrite, onPlan: (plan) => tell(planToText(plan)) },
      });
    }
    default:
      return command satisfies never;
  }
}

function prompt(act: ObservedAct, ms: number): void {
  const what = act === "change" ? "create or change something" : "delete something";
  tell(`Act on the surface now, as a person: ${what}. It is watched for ${ms / 1_000} s.`);
}

function planToText({ tool, args, calls, steps }: WritePlan): string {
  const head = `This writes to the surface: it calls ${tool} with ${JSON.stringify(args)}, at most ${calls} times:`;
  return [head, ...steps.map((step) => `  - ${step}`)].join("\n");
}

function format(report: Report, as: "table" | "json" | "junit"): string {
  switch (as) {
    case "json":
      return `${JSON.stringify(report, null, 2)}\n`;
    case "junit":
      return reportToJUnit(report);
    case "table":
      return reportToTable(report);
    default:
      return as satisfies never;
  }
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

function complain(message: string, code: number): number {
  tell(`human-plus-conformance: ${message}`);
  return code;
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "";
}
