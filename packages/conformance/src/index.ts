export { type Check, type CheckList, UnreachableError } from "./check.ts";
export type { Level, Outcome } from "./outcome.ts";
export {
  type CheckRelayOptions,
  checkRelay,
  type RelayChecksOptions,
  relayChecks,
} from "./relay-checks/check-relay.ts";
export { assertHolds, type CheckResult, ConformanceError, type Report, type RunOptions, runChecks } from "./report.ts";
export { reportToJUnit } from "./report-junit.ts";
export { reportToTable } from "./report-table.ts";
export {
  type CheckSurfaceOptions,
  checkSurface,
  type SurfaceChecksOptions,
  surfaceChecks,
} from "./surface-checks/check-surface.ts";
export type { ObservedAct, ObserveOptions } from "./surface-checks/observation.ts";
export type { ToolCall } from "./surface-checks/surface-probe.ts";
export { type ProbeWriteOptions, planWrites, type WritePlan } from "./surface-checks/write-probe.ts";
export { type TransportName, transportNames } from "./transports.ts";
