// Runs in every test file: whatever our adapter streamed in a test is judged at its end, whether the test looked at it or not.
import { afterEach } from "vitest";
import { takeRecordings } from "./recordings.ts";

afterEach(async () => {
  const taken = takeRecordings();
  if (taken.recordings.length === 0 && taken.exemptions.length === 0 && taken.cut === undefined) return;
  const { judgeRecordings } = await import("./judge-recordings.ts");
  const faults = await judgeRecordings(taken);
  if (faults.length > 0) throw new Error(`a stream of this test is refused:\n- ${faults.join("\n- ")}`);
}, 60_000);
