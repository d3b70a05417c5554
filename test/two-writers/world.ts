import type { Invitation, JsonObject } from "@human-plus/core/protocol";
import { type Agent, createAgent } from "./agent.ts";
import { type Board, type BoardTool, type BoardToolName, boardTools, createBoard, UNDO_TOOL } from "./board.ts";
import { createLedger, type Declared } from "./ledger.ts";
import { createNetwork, type Network } from "./network.ts";
import { openPage, type Page } from "./page.ts";
import { createStory, type Story } from "./story.ts";
import { createVirtualTime, type VirtualTime } from "./virtual-time.ts";
import { createWitness } from "./witness.ts";

export const PEOPLE = ["Ada", "Ben"] as const;
export const AGENTS = ["Tidy", "Scout"] as const;

export interface WorldOptions {
  /** How many changes the log of the surface keeps. */
  readonly maxChanges: number;
  /** Both agents have read the board before the story begins. */
  readonly haveRead: boolean;
  /** Tidy keeps a reading, and decides on several calls at once. */
  readonly keepsReading: boolean;
}

/** A board, the people at it, two agents, and a network between them in which nothing moves by itself. */
export interface World {
  readonly board: Board;
  readonly story: Story;
  readonly network: Network;
  readonly time: VirtualTime;
  readonly agents: readonly Agent[];
  readonly page: Page;
  reload(): Promise<void>;
  /** Lets everything come to its end, and looks at what is left. */
  finish(release: () => Promise<void>): Promise<void>;
}

const invitation: Invitation = {
  relayBaseUrl: "https://relay.test/agent-relay",
  sessionId: "session-1",
  token: "a-token-that-is-long-enough",
  surfaceId: "board",
  application: "board",
};

/** Runs what waits in microtasks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** @param schedule puts off one step of the network; steps of the setting up are not put off */
export async function createWorld(
  { maxChanges, haveRead, keepsReading }: WorldOptions,
  schedule: (label: string) => Promise<void>,
  time = createVirtualTime(),
): Promise<World> {
  let isSetUp = false;
  const step = (label: string) => (isSetUp ? schedule(label) : Promise.resolve());
  const story = createStory();
  const board = createBoard();
  const ledger = createLedger();
  const witness = createWitness({ ledger, story, maxChanges, describe: describeCall });
  const network = createNetwork({
    invitation,
    time,
    step,
    onFate: (hop, fate, text) =>
      story.tell(`From ${hop.replace(" to ", " to the ")}, ${frameName(text)} is ${fateWords[fate]}`),
  });
  const parts = { board, ledger, witness, story, network, time, step, maxChanges };
  let page = openPage(parts);
  const agents = AGENTS.map((name) =>
    createAgent({ ...parts, name, invitation, keepsReading: keepsReading && name === "Tidy" }),
  );
  for (const agent of agents) {
    await settle();
    if (haveRead) agent.begin("read", "");
    else agent.ask();
    await agent.idle();
  }
  isSetUp = true;
  story.begin(AGENTS.map((name) => `${name} has joined, and holds ${story.nameOf(witness.newestCall(name)?.marker)}`));

  return {
    board,
    story,
    network,
    time,
    agents,
    get page() {
      return page;
    },
    async reload() {
      await page.assertFeed("Observer");
      story.tell("The page is reloaded");
      page.kill();
      ledger.nextLife();
      page = openPage(parts);
    },
    async finish(release) {
      for (let round = 0; agents.some(({ isBusy }) => isBusy) && round < 100; round++) {
        await release();
        time.advance(time.nextMs() ?? 1);
        await settle();
      }
      await release();
      for (const agent of agents) {
        if (agent.isBusy) throw new Error(`${agent.name} still waits`);
        agent.assertHonest();
        await page.assertFeed(agent.name);
      }
      await page.assertFeed("Observer");
      for (const agent of agents) await agent.close();
      page.kill();
      network.close();
      story.assertKept();
    },
  };
}

function describeCall(name: string, { card }: JsonObject): { words: string; declared: Declared; commits: number } {
  if (name === UNDO_TOOL) return { words: "undoes what it did last", declared: [], commits: 1 };
  const tool: BoardTool | undefined = boardTools[name as BoardToolName];
  if (tool === undefined) return { words: name === "read" ? "reads the board" : name, declared: "none", commits: 0 };
  const commits = tool.stage ? 0 : tool.together ? 1 : tool.edits(String(card)).length;
  return { words: `${tool.words} ${card}`, declared: tool.touches(String(card)), commits };
}

const fateWords = { lost: "lost", "answer lost": "delivered, and its answer lost", twice: "delivered twice" } as const;

function frameName(text: string): string {
  const { method, params } = JSON.parse(text) as { method?: string; params?: { name?: string } };
  return method === undefined ? "an answer" : `${method}${params?.name === undefined ? "" : ` ${params.name}`}`;
}
