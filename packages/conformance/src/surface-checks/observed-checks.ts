import { methods } from "@human-plus/core/protocol";
import { type CheckDefinition, orUnseen } from "../check.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import { isPersonActing, type Observed, type ObserveOptions, observe } from "./observation.ts";
import type { SurfaceProbe } from "./surface-probe.ts";

/** How long a surface may take to tell agents that a person acted, in milliseconds. */
const TOLD_MS = 1_000;

/** What can only be seen while somebody acts on the surface. */
export function observedChecks(options: ObserveOptions | undefined): readonly CheckDefinition<SurfaceProbe>[] {
  async function withActs(
    probe: SurfaceProbe,
    judge: (acts: readonly Observed[]) => Outcome | Promise<Outcome>,
  ): Promise<Outcome> {
    if (options === undefined) return unseen("somebody has to act on the surface meanwhile: use --observe");
    return orUnseen(
      probe.once("acts", () => observe(probe, options)),
      (observed) => {
        const acts = observed.filter(({ happened }) => happened);
        return acts.length === 0
          ? unseen("nothing happened on the surface in the time that was observed")
          : judge(acts);
      },
    );
  }

  return [
    {
      id: "surface.observed.marker",
      name: "after a change, the marker is one that was not there before",
      section: "5",
      level: "must",
      run: (probe) =>
        withActs(probe, (acts) => {
          const changed = acts.filter(({ reading, grew }) => grew || (reading?.feed.changes.length ?? 0) > 0);
          const seen = changed.flatMap(({ before, after }) => (before && after ? [{ before, after }] : []));
          if (seen.length === 0) return unseen("no change was seen in the feed beside markers before and after it");
          const markers = [seen[0]?.before, ...seen.map(({ after }) => after)];
          if (new Set(markers).size === markers.length) return holds(`${seen.length} changes`);
          return doesNotHold(
            "another marker after each change that the feed tells of",
            "a marker that was there before",
          );
        }),
    },
    {
      id: "surface.observed.rows",
      name: "what happens on the surface is in the feed",
      section: "6",
      level: "must",
      run: (probe) =>
        withActs(probe, (acts) => {
          if (acts.every(({ reading }) => reading === undefined)) return unseen("the surface offers no change feed");
          const silent = acts.find(({ reading }) => reading !== undefined && isCalm(reading.feed));
          if (silent === undefined) return holds();
          const signs = silent.announced ? "the surface says that a person acted" : "marker or content differ";
          return doesNotHold("rows, or complete: false", `a complete feed without rows, while ${signs}`);
        }),
    },
    {
      id: "surface.observed.attribution",
      name: "what a person did is attributed to a person",
      section: "6",
      level: "must",
      run: (probe) =>
        withActs(probe, (acts) => {
          const rows = acts.flatMap(({ reading }) => reading?.feed.changes ?? []);
          if (rows.length === 0) return unseen("the feed told of nothing");
          if (rows.some(({ actor }) => actor === "human")) return holds();
          const agents = rows.filter(({ actor }) => actor === "agent").length;
          if (agents > 0) return doesNotHold("human", `${agents} of ${rows.length} rows say agent, none says human`);
          if (rows.every(({ actor }) => actor === "unknown")) return unseen("the surface does not attribute");
          return unseen("only others are named: nobody can say from here whether a person acted");
        }),
    },
    {
      id: "surface.observed.tombstone",
      name: "what was deleted keeps its row",
      section: "6",
      level: "must",
      run: (probe) =>
        withActs(probe, (acts) => {
          const [first] = acts;
          const last = acts.at(-1);
          const { reading, sinceStart } = last ?? {};
          if (first?.sinceStart === undefined || sinceStart === undefined || reading === undefined)
            return unseen("the surface offers no change feed");
          if (last !== first && last?.after === first.before)
            return unseen("a marker came again, so the feed cannot tell what was since then");
          const later = new Set(sinceStart.feed.changes.map(({ handle }) => handle));
          const gone = first.sinceStart.feed.changes.filter(({ handle }) => !later.has(handle));
          if (gone.length > 0 && sinceStart.feed.complete) {
            const handle = probe.quoter.quote(gone[0]?.handle);
            return doesNotHold("the rows that were there, and one more", `the row of ${handle} is gone`);
          }
          if (reading.feed.changes.some(({ kind }) => kind === "deleted")) return holds();
          return unseen("no deletion was seen");
        }),
    },
    {
      id: "surface.observed.announced",
      name: "agents are told when a person acts",
      section: "4",
      level: "optional",
      run: (probe) =>
        withActs(probe, async () => {
          const end = performance.now() + TOLD_MS;
          while (!probe.notifications.some(isPersonActing)) {
            const leftMs = end - performance.now();
            if (leftMs <= 0) return unseen(`no ${methods.agentActivity} came`);
            await probe.nextNotification(leftMs);
          }
          return holds();
        }),
    },
  ];
}

function isCalm({ complete, changes, unreadable }: NonNullable<Observed["reading"]>["feed"]): boolean {
  return complete && changes.length === 0 && unreadable === 0;
}
