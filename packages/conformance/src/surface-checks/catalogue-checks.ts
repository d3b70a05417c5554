import { limits, safeParseToolName } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import { issuesToText, type SurfaceProbe } from "./surface-probe.ts";

const RESERVED = "x-reserved-endings";

/** What a surface offers: PROTOCOL.md sections 4, 7 and 8. */
export const catalogueChecks: readonly CheckDefinition<SurfaceProbe>[] = [
  {
    id: "surface.tools",
    name: "tools/list can be read to its end",
    section: "4",
    level: "must",
    async run(probe) {
      const { broken, pages, tools } = await probe.listing();
      const expected = `pages that end, at most ${limits.toolPages}, with at most ${limits.tools} tools`;
      return broken === undefined ? holds(`${tools.length} tools on ${pages} pages`) : doesNotHold(expected, broken);
    },
  },
  {
    id: "surface.tools.readable",
    name: "every tool can be read, within the bounds of descriptions and schemas",
    section: "8",
    level: "must",
    async run(probe) {
      const { unreadable, notices, tools, broken } = await probe.listing();
      if (tools.length === 0 && broken !== undefined) return unseen("no tools came");
      if (unreadable === 0 && notices.length === 0) return holds();
      return doesNotHold("tools as the contract has them", `${unreadable} left out: ${issuesToText(notices)}`);
    },
  },
  {
    id: "surface.tools.names",
    name: "tool names are ones that agents may call",
    section: "7",
    level: "should",
    run: (probe) => judgeNames(probe, (rule) => rule !== RESERVED, "names of ASCII letters, digits and _ . : -"),
  },
  {
    id: "surface.tools.reserved",
    name: "no tool confirms or rejects in a person's stead",
    section: "7",
    level: "must",
    run: (probe) => judgeNames(probe, (rule) => rule === RESERVED, "no name that ends in a word of confirmation"),
  },
  {
    id: "surface.tools.unique",
    name: "no two tools have the same name",
    section: "7",
    level: "should",
    async run(probe) {
      const { tools, broken } = await probe.listing();
      if (broken !== undefined) return unseen("the list has no end");
      const names = tools.map(({ name }) => name);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice === undefined) return holds();
      return doesNotHold("one tool for a name: agents use neither of two", `two tools ${probe.quoter.quote(twice)}`);
    },
  },
];

async function judgeNames(
  probe: SurfaceProbe,
  concerns: (rule: string) => boolean,
  expected: string,
): Promise<Outcome> {
  const { tools } = await probe.listing();
  if (tools.length === 0) return unseen("the surface offers no tools");
  const wrong = tools.filter(({ name }) => {
    const parsed = safeParseToolName(name);
    return !parsed.ok && parsed.issues.some(({ rule }) => concerns(rule));
  });
  if (wrong.length === 0) return holds();
  const names = wrong.slice(0, 4).map(({ name }) => probe.quoter.quote(name));
  return doesNotHold(expected, `${wrong.length} of ${tools.length}: ${names.join(", ")}`);
}
