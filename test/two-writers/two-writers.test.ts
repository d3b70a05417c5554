import { expect, test } from "vitest";
import { checkTwoWriters } from "./property.ts";

const RUNS = 5_000;

/** What has to happen in some story, or the property says less than it seems to. */
const PLOTS = {
  "a call is refused": /pinned to r\d+, \w+ \w+: refused \(.*(updated|moved|deleted)/,
  "a call is done after it waited": /pinned to r\d+, thinks, and writes \w+: done/,
  "a call is refused after it waited": /pinned to r\d+, thinks, and writes \w+: refused/,
  "a call fails after it wrote a part": /writes twice \w+: failed/,
  "a call touches everything": /writes all cards, asked for \w+: refused/,
  "a container is deleted": /deletes Plan, asked for \w+: done/,
  "what is in a container is moved with it": /moves Plan with all that is in it, asked for \w+: refused/,
  "the feed tells of people": /asks what changed since r\d+: .* human/,
  "the feed tells of the other agent": /asks what changed since r\d+: .* other/,
  "the feed tells of own work": /asks what changed since r\d+: .* agent/,
  "the feed is not complete": /\(not complete\)/,
  "nothing changed": /asks what changed since r\d+: nothing; /,
  "a proposal is accepted": /accepts the proposal .*: accepted/,
  "a proposal is stale": /accepts the proposal .*: stale/,
  "a proposal is rejected": /rejects the proposal .*: rejected/,
  "a person undoes own work": /^(\w+) undoes what \1 did last \(\1 (edits|moves|deletes|adds)/,
  "a person undoes the work of an agent": /^(Ada|Ben) undoes what (Tidy|Scout) did last/,
  "an agent undoes its own work": /^(Tidy|Scout) undoes what \1 did last/,
  "a deletion is undone": /^Ada undoes .* deletes /,
  "an undo comes too late": /cannot undo .*: changed_since/,
  "an agent's undo comes too late": /^(Tidy|Scout) cannot undo .*: changed_since/,
  "a change cannot be undone": /cannot undo .*: cannot_be_undone/,
  "there is nothing to undo": /cannot undo .*: nothing_to_undo/,
  "the feed tells of an undo": /asks what changed since r\d+: .* created human/,
  "a call is cancelled": /is told: aborted, unknown/,
  "an answer does not come": /is told: relay_(timeout|failed), unknown/,
  "a frame is lost": /is lost/,
  "a frame comes twice": /tools\/call \w+ is delivered twice/,
  "the relay restarts": /The relay restarts/,
  "an agent finds its session gone": /is told: surface_unavailable/,
  "the page is reloaded": /The page is reloaded/,
};

test("people and two agents keep each other's work, whatever comes first, is lost, comes twice or starts anew", async () => {
  const missing = new Map(Object.entries(PLOTS));
  const { story, runs, seed } = await checkTwoWriters({
    runs: RUNS,
    onStory(lines) {
      for (const [plot, pattern] of missing) if (lines.some((line) => pattern.test(line))) missing.delete(plot);
    },
  });
  expect(story, `run it again with \`npm run test:long -- --workers 1 --seed ${seed}\``).toBeUndefined();
  expect(runs).toBe(RUNS);
  expect([...missing.keys()]).toEqual([]);
}, 180_000);
