import { expect, test } from "vitest";
import { assertHolds, type Check, ConformanceError, relayChecks, reportToTable, runChecks } from "../src/index.ts";
import { createQuoter } from "../src/quote.ts";
import { startSmallRelay } from "./parts/small-relay.ts";

const rule = { id: "a.rule", name: "a rule", section: "2.4", level: "must" } as const;

test("each check runs by itself, and a list of them leaves nothing open once it is disposed of", async () => {
  await using relay = await startSmallRelay("no OPTIONS");
  await using checks = relayChecks(relay.url, { local: true });
  const run = (wanted: string) => assertHolds(checks.find(({ id }) => id === wanted) as Check);
  await expect(run("relay.routing.asker")).resolves.toEqual({ status: "holds" });
  await expect(run("relay.poll-poll.frames")).resolves.toMatchObject({ status: "unseen" });
  await expect(run("relay.options")).rejects.toThrow(ConformanceError);
  await expect(run("relay.options")).rejects.toThrow(/section 2, must\)\nexpected: 204\nreceived: 404/);
});

test("ids of checks are unique, and each names its section", async () => {
  await using checks = relayChecks("https://relay.example/agent-relay");
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
  for (const { section } of checks) expect(section).toMatch(/^\d(\.\d)?$/);
});

test("checks of a weaker level are left out", async () => {
  const run = async () => ({ status: "holds" }) as const;
  const checks: Check[] = [
    { ...rule, run },
    { ...rule, id: "b", level: "should", run },
    { ...rule, id: "c", level: "optional", run },
  ];
  const ids = async (level?: "must" | "should") =>
    (await runChecks(checks, { subject: "relay", target: "x", transport: undefined }, { level })).results.map(
      ({ id }) => id,
    );
  expect(await ids("must")).toEqual(["a.rule"]);
  expect(await ids("should")).toEqual(["a.rule", "b"]);
  expect(await ids()).toEqual(["a.rule", "b", "c"]);
});

test("the table says what was expected and what came", async () => {
  const run = async () => ({ status: "does_not_hold", expected: "one", received: "two" }) as const;
  const report = await runChecks([{ ...rule, run }], {
    subject: "relay",
    target: "https://r.example",
    transport: undefined,
  });
  expect(report.ok).toBe(false);
  expect(reportToTable(report)).toContain(
    "DOES NOT HOLD   2.4   must      a rule\n                expected: one\n                received: two\n",
  );
});

test.each([
  ["plain http that is not said to be local", "http://127.0.0.1:1/agent-relay"],
  ["a query", "https://relay.example/agent-relay?token=x"],
  ["no URL", "relay"],
])("relayChecks takes no address with %s", (_what, url) => {
  expect(() => relayChecks(url)).toThrow(TypeError);
});

test("quotations hide the token in every spelling, are bounded, and carry nothing that acts on a terminal", () => {
  const token = 'secret "token"+/=%0123456789';
  const { quote, clean } = createQuoter([token]);
  const spellings = [
    token,
    encodeURIComponent(token),
    new URLSearchParams({ t: token }).toString(),
    JSON.stringify(token),
  ];
  for (const spelling of spellings) {
    expect(quote({ said: spelling })).not.toContain("0123456789");
    expect(clean(`it said ${spelling}`)).toContain("[token]");
  }
  expect(quote("x".repeat(5_000)).length).toBeLessThan(220);
  const nasty = "\u001b[2J\u202e\u2066\u200b\u009b\r\n\ud800";
  expect(quote(nasty)).not.toMatch(/\p{C}/u);
  expect(clean(nasty)).not.toMatch(/\p{C}/u);
});
