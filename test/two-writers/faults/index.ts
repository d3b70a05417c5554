import { ancestorsIgnored } from "./ancestors-ignored.ts";
import { appliedBeforeChecked } from "./applied-before-checked.ts";
import { checkAtArrivalOnly } from "./check-at-arrival-only.ts";
import type { Fault } from "./fault.ts";
import { lifeIgnored } from "./life-ignored.ts";
import { markerKeptAfterRefusal } from "./marker-kept-after-refusal.ts";
import { othersTakenForOwn } from "./others-taken-for-own.ts";
import { ownEditsAsOther } from "./own-edits-as-other.ts";
import { proposalAcceptedUnchecked } from "./proposal-accepted-unchecked.ts";
import { readBesideCounts } from "./read-beside-counts.ts";
import { secondCallUnpinned } from "./second-call-unpinned.ts";
import { tombstoneMissing } from "./tombstone-missing.ts";
import { trimmedInSilence } from "./trimmed-in-silence.ts";
import { undoIgnoresLaterTouches } from "./undo-ignores-later-touches.ts";

/** The planted faults. */
export const faults: readonly Fault[] = [
  checkAtArrivalOnly,
  lifeIgnored,
  tombstoneMissing,
  ownEditsAsOther,
  markerKeptAfterRefusal,
  proposalAcceptedUnchecked,
  ancestorsIgnored,
  trimmedInSilence,
  secondCallUnpinned,
  appliedBeforeChecked,
  undoIgnoresLaterTouches,
  readBesideCounts,
  othersTakenForOwn,
];
