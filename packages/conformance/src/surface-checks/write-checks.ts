import { type ChangeRow, rpcErrorCodes, safeParseStaleRefusal } from "@human-plus/core/protocol";
import { type CheckDefinition, orUnseen } from "../check.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import { issuesToText, type SurfaceProbe } from "./surface-probe.ts";
import { type ProbeWriteOptions, probeWrites, type WriteRecord, type Written } from "./write-probe.ts";

const NO_REFUSAL = "no stale write was refused";

/** What only writing shows: PROTOCOL.md section 5. Without options nothing is written. */
export function writeChecks(options: ProbeWriteOptions | undefined): readonly CheckDefinition<SurfaceProbe>[] {
  async function withWrites(
    probe: SurfaceProbe,
    judge: (record: WriteRecord) => Outcome | Promise<Outcome>,
  ): Promise<Outcome> {
    if (options === undefined) return unseen("only writing shows it: use --probe-write");
    return orUnseen(
      probe.once("writes", () => probeWrites(probe, options)),
      (record) => {
        if (record.fresh.kind === "written") return judge(record);
        const why = writtenToText(record.fresh, probe);
        return unseen(`the write ${probe.quoter.quote(options.name)} does not work even with a fresh pin: ${why}`);
      },
    );
  }

  return [
    {
      id: "surface.write.marker",
      name: "after a write, the marker is one that was not there before",
      section: "5",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ mints, repeats, rows, changed }) => {
          if (!mints) return unseen("the surface mints no markers");
          if (!repeats) return holds();
          if (rows !== undefined && !changed) return unseen("the feed shows no write, so nothing may have changed");
          return doesNotHold("another marker", "the marker from before the write");
        }),
    },
    {
      id: "surface.write.stale",
      name: "a write with a stale pin is refused",
      section: "5",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ mints, stale, rows, repeats, changed }) => {
          if (!mints) return unseen("the surface mints no markers");
          if (repeats) return unseen("a marker came again after a write, so none is known to be stale");
          if (stale.kind === "refused") return holds();
          if (stale.kind === "failed") return unseen(`it failed for a reason of its own: ${stale.text}`);
          if (rows !== undefined && !changed)
            return unseen("the feed shows no write before it, so nothing may have been stale");
          const expected = "a refusal: what it writes was written by another agent after its pin";
          return doesNotHold(expected, "it was written: markers are minted and pins are not enforced");
        }),
    },
    {
      id: "surface.write.concurrent",
      name: "of two writes pinned alike and sent at once, only one is written",
      section: "5",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ pairs }) => {
          if (pairs.length === 0) return unseen(NO_REFUSAL);
          const both = pairs.filter((pair) => pair.every(({ kind }) => kind === "written")).length;
          if (both > 0) {
            const received = `both written in ${both} of ${pairs.length}: pins are checked at arrival, not when it is written`;
            return doesNotHold("one written, one refused", received);
          }
          const one = pairs.filter((pair) => pair.some(({ kind }) => kind === "written")).length;
          return one > 0 ? holds(`in ${one} of ${pairs.length} pairs`) : unseen("neither of two was written");
        }),
    },
    {
      id: "surface.write.code",
      name: "a refusal is one that agents read as stale",
      section: "5",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ stale }) => {
          if (stale.kind !== "refused") return unseen(NO_REFUSAL);
          if (stale.error.conflict === "stale") return holds();
          return doesNotHold(`code ${rpcErrorCodes.staleRevision} with data.code`, writtenToText(stale, probe));
        }),
    },
    {
      id: "surface.write.refusal-data",
      name: "a refusal says what stands against the call",
      section: "5",
      level: "should",
      run: (probe) =>
        withWrites(probe, ({ stale }) => {
          if (stale.kind !== "refused") return unseen(NO_REFUSAL);
          const parsed = safeParseStaleRefusal(stale.error.data);
          if (!parsed.ok) return doesNotHold("data {code, changes, complete}", issuesToText(parsed.issues));
          const { changes, complete, unreadable } = parsed.value;
          if (unreadable > 0) return doesNotHold("rows that can be read", issuesToText(parsed.notices));
          if (changes.some(({ actor }) => actor === "agent"))
            return doesNotHold("hands relative to the caller", "another agent's write is attributed to the caller");
          if (changes.length > 0 || !complete) return holds(`${changes.length} rows`);
          return doesNotHold("rows, or complete: false", "no rows, and complete");
        }),
    },
    {
      id: "surface.write.refusal-writes-nothing",
      name: "a refused write leaves nothing in the feed",
      section: "5",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ stale, rowsOfRefusal }) => {
          if (stale.kind !== "refused") return unseen(NO_REFUSAL);
          if (rowsOfRefusal === undefined) return unseen("the surface offers no change feed that can be read");
          return rowsOfRefusal <= 0 ? holds() : doesNotHold("no new row", `${rowsOfRefusal} new rows`);
        }),
    },
    {
      id: "surface.write.own",
      name: "an agent's own write does not make its next one stale",
      section: "5",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ mints, following }) => {
          if (!mints) return unseen("the surface mints no markers");
          if (following.kind === "written") return holds();
          if (following.kind === "failed") return unseen(`it failed for a reason of its own: ${following.text}`);
          const expected = "it is written: the answer to a write covers that write";
          return doesNotHold(expected, writtenToText(following, probe));
        }),
    },
    {
      id: "surface.write.feed",
      name: "a write is in the feed, as the writer's to the writer and as another's to others",
      section: "6",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ rows, repeats }) => {
          if (repeats) return unseen("a marker came again after a write, so the feed cannot tell what was since then");
          if (rows === undefined) return unseen("the surface offers no change feed that can be read");
          const expected = "a row of agent for the writer, of other for another agent";
          if (rows.own.length === 0 || rows.other.length === 0) return doesNotHold(expected, "no row of the write");
          const actors = (list: typeof rows.own) => [...new Set(list.map(({ actor }) => actor))].join(", ");
          if (rows.own.every(({ actor }) => actor === "unknown")) return unseen("the surface does not attribute");
          const isRight =
            rows.own.some(({ actor }) => actor === "agent") &&
            rows.other.some(({ actor }) => actor === "other") &&
            rows.other.every(({ actor }) => actor !== "agent");
          if (isRight) return holds();
          return doesNotHold(expected, `${actors(rows.own)} for the writer, ${actors(rows.other)} for the other agent`);
        }),
    },
    {
      id: "surface.write.hands",
      name: "a write of another hand takes no row away that the feed had of the one before",
      section: "6",
      level: "must",
      run: (probe) =>
        withWrites(probe, ({ hands, repeats }) => {
          if (repeats) return unseen("a marker came again after a write, so the feed cannot tell what was since then");
          if (hands === undefined) return unseen("no feed could be read before and after another agent wrote");
          const { before, after } = hands;
          if (!before.complete || !after.complete) return unseen("the feed does not say that it is complete");
          if (before.changes.length === 0) return unseen("the feed has no row of the first write");
          const kept = new Set(after.changes.map(rowToKey));
          const lost = new Set(before.changes.map(rowToKey).filter((key) => !kept.has(key)));
          if (lost.size === 0) return holds();
          const expected = "every row of before, or complete: false: rows are not merged across hands";
          return doesNotHold(expected, `a complete answer without ${lost.size} of them`);
        }),
    },
  ];
}

/** What may be told once however often it happened. */
function rowToKey({ handle, kind, actor }: ChangeRow): string {
  return JSON.stringify([handle, kind, actor]);
}

function writtenToText(written: Written, { quoter }: SurfaceProbe): string {
  switch (written.kind) {
    case "written":
      return "it was written";
    case "failed":
      return `the tool failed: ${written.text}`;
    case "refused":
      return `an error ${quoter.quote(written.error.code)}: ${quoter.quote(written.error.message)}`;
    default:
      return written satisfies never;
  }
}
