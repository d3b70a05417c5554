import * as fc from "fast-check";
import type { Decision } from "./agent.ts";
import { type BoardToolName, boardTools, CARDS, type EditKind, editKinds, FRAME, UNDO_TOOL } from "./board.ts";
import type { Fate, Hop } from "./network.ts";
import { AGENTS, PEOPLE, type World } from "./world.ts";

type Step = fc.AsyncCommand<World, World>;

/** A command that says what it does. */
function step(
  label: string,
  run: (world: World) => void | Promise<void>,
  check: (world: World) => boolean = () => true,
): Step {
  return {
    check,
    async run(world) {
      await run(world);
      world.story.assertKept();
    },
    toString: () => label,
  };
}

const agent = fc.nat({ max: AGENTS.length - 1 });
const person = fc.constantFrom(...PEOPLE);
const card = fc.constantFrom(...CARDS);
const handle = fc.constantFrom<string>(...CARDS, FRAME);
const tool = fc.constantFrom<BoardToolName>(...(Object.keys(boardTools) as BoardToolName[]));

const isFree = (index: number) => (world: World) => world.agents[index]?.isBusy === false;

const personDoes = fc
  .tuple(person, fc.constantFrom<EditKind>("edits", ...editKinds), handle)
  .map(([who, kind, what]) => step(`${who} ${kind} ${what}`, ({ page }) => void page.personDoes(who, kind, what)));

const personUndoes = fc
  .tuple(person, fc.constantFrom<string>(...PEOPLE, ...AGENTS))
  .map(([who, of]) => step(`${who} undoes what ${of} did last`, ({ page }) => page.personUndoes(who, of)));

const agentCalls = fc
  .tuple(agent, tool, card)
  .map(([who, name, what]) =>
    step(`${AGENTS[who]}: ${name} ${what}`, ({ agents }) => agents[who]?.begin(name, what), isFree(who)),
  );

const agentDecides = fc
  .tuple(
    agent,
    fc.array(
      fc.oneof(
        fc.tuple(tool, card),
        card.map((what): Decision => ["read", what]),
      ),
      { minLength: 2, maxLength: 3 },
    ),
  )
  .map(([who, decisions]) =>
    step(
      `${AGENTS[who]} decides: ${decisions.map(([name, what]) => `${name} ${what}`).join(", ")}`,
      ({ agents }) => agents[who]?.beginTogether(decisions),
      (world) => isFree(who)(world) && world.agents[who]?.keepsReading === true,
    ),
  );

const agentProposes = fc
  .tuple(agent, card)
  .map(([who, what]) =>
    step(`${AGENTS[who]}: suggest ${what}`, ({ agents }) => agents[who]?.begin("suggest", what), isFree(who)),
  );

const agentUndoes = agent.map((who) =>
  step(`${AGENTS[who]}: ${UNDO_TOOL}`, ({ agents }) => agents[who]?.begin(UNDO_TOOL, ""), isFree(who)),
);

const agentReads = agent.map((who) =>
  step(`${AGENTS[who]} reads`, ({ agents }) => agents[who]?.begin("read", "all"), isFree(who)),
);

const agentAsks = agent.map((who) => step(`${AGENTS[who]} asks`, ({ agents }) => agents[who]?.ask(), isFree(who)));

const agentCancels = agent.map((who) =>
  step(
    `${AGENTS[who]} cancels`,
    ({ agents, story }) => {
      story.tell(`${AGENTS[who]} cancels its call`);
      agents[who]?.cancel();
    },
    (world) => !isFree(who)(world),
  ),
);

const personDecides = fc
  .tuple(person, fc.boolean())
  .map(([who, accepts]) =>
    step(`${who} ${accepts ? "accepts" : "rejects"}`, ({ page }) => void page.personDecides(who, accepts)),
  );

const fates = fc
  .constantFrom<[Hop, Fate]>(
    ["agent to relay", "lost"],
    ["agent to relay", "answer lost"],
    ["agent to relay", "twice"],
    ["relay to page", "twice"],
    ["page to relay", "lost"],
    ["page to relay", "answer lost"],
    ["page to relay", "twice"],
    ["relay to agent", "twice"],
  )
  .map(([hop, fate]) => step(`${hop}: ${fate}`, ({ network }) => network.doom(hop, fate)));

const cut = fc.constant(step("streams break", ({ network }) => network.cutStreams()));
const restart = fc.constant(
  step("the relay restarts", ({ network, story }) => {
    story.tell("The relay restarts");
    network.restartRelay();
  }),
);
const reload = fc.constant(step("the page is reloaded", (world) => world.reload()));
const timePasses = fc
  .constantFrom(10, 1_000, 31_000)
  .map((ms) => step(`${ms} ms pass`, ({ time }) => time.advance(ms)));

/** What people, agents and the network do. Calls are begun and not waited for: the scheduler decides what comes first. */
export const commandArbitraries: fc.Arbitrary<Step>[] = [
  ...Array.from({ length: 6 }, () => personDoes),
  ...Array.from({ length: 2 }, () => personUndoes),
  ...Array.from({ length: 8 }, () => agentCalls),
  ...Array.from({ length: 4 }, () => agentDecides),
  agentUndoes,
  agentReads,
  agentProposes,
  ...Array.from({ length: 3 }, () => agentAsks),
  agentCancels,
  ...Array.from({ length: 3 }, () => personDecides),
  ...Array.from({ length: 2 }, () => fates),
  cut,
  restart,
  reload,
  timePasses,
];
