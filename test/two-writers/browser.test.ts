import { existsSync } from "node:fs";
import { createHumanPlus, type HumanPlus, HumanPlusError, type SurfaceSession, TrustPolicy } from "@human-plus/core";
import { startRelay } from "@human-plus/relay";
import { createInvitation } from "@human-plus/surface";
import { createSseTransport } from "@human-plus/transport-sse";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { startBoardServer } from "./browser/board-server.ts";
import type { BoardState, JournalEntry } from "./browser/journal.ts";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const skipped = existsSync(executablePath)
  ? ""
  : " (skipped: needs Chromium, apt-get install -y --no-install-recommends chromium)";

/** What agents do at most, so that their feeds fit into one answer each. */
const MAX_ROUNDS = 100;
const THINKING_MS = 30;

function launch(): Promise<Browser> {
  const args = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking";
  return chromium.launch({
    executablePath,
    args: [...args.split(" "), "--disable-component-update", "--disable-sync"],
  });
}

const boardOf = (page: Page): Promise<BoardState> => page.evaluate(() => window.board());

/** An agent that adds words of its own to what it has read, as a model does that is given the whole text. */
interface Writer {
  readonly name: string;
  readonly session: SurfaceSession;
  /** Words that the surface acknowledged. */
  readonly written: string[];
  refused: number;
  /** Reads, thinks, writes. */
  add(card: string, think?: () => Promise<unknown>): Promise<"written" | "refused">;
}

async function join(client: HumanPlus, name: string, invitation: ReturnType<typeof createInvitation>): Promise<Writer> {
  const session = await client.attach({
    owner: name,
    invitation,
    participant: { id: name, name },
    trust: TrustPolicy.allowing(["read", "write", "move", "changes_since"]),
  });
  const writer: Writer = {
    name,
    session,
    written: [],
    refused: 0,
    async add(card, think = async () => {}) {
      const { structuredContent } = await session.call("read");
      const { cards } = structuredContent as unknown as BoardState;
      await think();
      const word = `<${name}${writer.written.length}>`;
      try {
        const { isError, text } = await session.call("write", { card, text: `${cards[card]?.text ?? ""}${word}` });
        if (isError) throw new Error(text);
        writer.written.push(word);
        return "written";
      } catch (error) {
        if (!(error instanceof HumanPlusError) || error.code !== "surface_changed_under_you") throw error;
        writer.refused++;
        return "refused";
      }
    },
  };
  return writer;
}

/** What a feed has to say to an agent of what the pages remember, in any order. */
function rowsFor(name: string, journals: readonly JournalEntry[]): string[] {
  const actor = (hand: string) => (hand === "human" ? "human" : hand === name ? "agent" : "other");
  return journals.map(({ hand, handle, kind }) => `${handle} ${kind} ${actor(hand)}`).sort();
}

test.skipIf(skipped !== "")(
  `two pages of one document, each with a person and an agent, lose nobody's work${skipped}`,
  { timeout: 120_000 },
  async () => {
    await using server = await startBoardServer();
    await using relay = await startRelay({ cors: [new URL(server.url).origin] });
    await using browser = await launch();
    const context = await browser.newContext({ viewport: { width: 900, height: 500 } });
    const clients: HumanPlus[] = [];

    async function open(name: string, index: number): Promise<{ page: Page; writer: Writer }> {
      const invitation = createInvitation({ relayBaseUrl: relay.url, surfaceId: "board", application: "board" });
      const page = await context.newPage();
      const hash = encodeURIComponent(JSON.stringify({ invitation, isFirst: index === 1, clientID: index + 1 }));
      await page.goto(`${server.url}#${hash}`);
      await page.waitForFunction(() => window.board().status === "open");
      const client = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) });
      clients.push(client);
      return { page, writer: await join(client, name, invitation) };
    }

    /** A person puts the cursor at the end of a card and types. */
    async function type(page: Page, card: string, words: string): Promise<void> {
      await page.locator(`#${card} textarea`).focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.type(words, { delay: 15 });
    }

    async function drag(page: Page, card: string, dx: number): Promise<void> {
      const box = await page.locator(`#${card} .handle`).boundingBox();
      if (box === null) throw new Error(`${card} is not to be seen`);
      await page.mouse.move(box.x + 20, box.y + 10);
      await page.mouse.down();
      await page.mouse.move(box.x + 20 + dx, box.y + 10, { steps: 4 });
      await page.mouse.up();
    }

    try {
      // The second page comes first, so that the first one finds somebody to tell of its cards.
      const there = await open("scout", 0);
      const here = await open("tidy", 1);
      await there.page.waitForFunction(() => Object.keys(window.board().cards).length === 3);

      // One after another: a person here, and a person at the other page, each while an agent thinks.
      expect(await here.writer.add("budget", () => type(here.page, "budget", "mine"))).toBe("refused");
      const typedThere = async () => {
        await type(there.page, "budget", "yours");
        await here.page.waitForFunction(() => window.board().cards["budget"]?.text.includes("yours"));
      };
      expect(await here.writer.add("budget", typedThere)).toBe("refused");
      expect(await here.writer.add("budget", () => type(here.page, "rent", "."))).toBe("written");
      const turn = await there.writer.session.turn();
      expect(turn.leaveAlone).toContain("budget");

      // The feeds of both pages say whose hand it was, and the agent whose call was refused for a drag leaves it alone.
      const dragged = async () => {
        await drag(here.page, "travel", 300);
        await there.page.waitForFunction(() => (window.board().cards["travel"]?.x ?? 0) >= 300);
      };
      await there.writer.session.call("read");
      await dragged();
      await expect(there.writer.session.call("move", { card: "travel", x: 0, y: 0 })).rejects.toMatchObject({
        code: "surface_changed_under_you",
      });

      // All at once.
      const typed: string[] = ["mine", "yours"];
      async function person(page: Page, name: string): Promise<void> {
        for (let round = 0; round < 6; round++) {
          const word = `{${name}${round}}`;
          typed.push(word);
          await type(page, round % 2 === 0 ? "budget" : "rent", word);
          await drag(page, "travel", round % 2 === 0 ? 20 : -20);
        }
      }
      let isOver = false;
      async function agent(writer: Writer): Promise<void> {
        const think = () => new Promise((resolve) => setTimeout(resolve, THINKING_MS));
        for (let round = 0; !isOver && round < MAX_ROUNDS; round++)
          await writer.add(round % 2 === 0 ? "budget" : "rent", think);
      }
      const agents = Promise.all([agent(here.writer), agent(there.writer)]);
      await Promise.all([person(here.page, "a"), person(there.page, "b")]).finally(() => {
        isOver = true;
      });
      await agents;

      // Both pages come to the same end, and everybody's work is in it.
      const last = async () => JSON.stringify([(await boardOf(here.page)).cards, (await boardOf(there.page)).cards]);
      await expect
        .poll(async () => new Set(JSON.parse(await last()).map((cards: unknown) => JSON.stringify(cards))).size)
        .toBe(1);
      const [left, right] = [await boardOf(here.page), await boardOf(there.page)];
      const text = Object.values(left.cards)
        .map(({ text }) => text)
        .join(" ");
      const letters = (words: string) => [...words].sort().join("");
      for (const word of [...here.writer.written, ...there.writer.written]) expect(text).toContain(word);
      // Words of two people who type in one place may run into each other; no letter of them is lost.
      const people = text.replaceAll(/<\w+>/g, "");
      for (const letter of new Set(typed.join("")))
        expect(people.split(letter).length, `${letter} in ${people}`).toBeGreaterThanOrEqual(
          letters(typed.join("")).split(letter).length,
        );
      const journals = [...left.journal, ...right.journal];
      for (const { writer } of [here, there]) {
        expect(writer.refused).toBeGreaterThan(0);
        expect(journals.filter(({ hand }) => hand === writer.name)).toHaveLength(writer.written.length);
      }

      // Every write is in the feed of every page once, by the right hand.
      for (const { writer } of [here, there]) {
        const fresh = await writer.session.call("changes_since");
        const { changes, complete } = JSON.parse(/\{.*\}/s.exec(fresh.text)?.[0] ?? "{}");
        expect(complete).toBe(true);
        const rows = changes.map((row: Record<string, string>) => `${row["handle"]} ${row["kind"]} ${row["actor"]}`);
        expect(rows.sort()).toEqual(rowsFor(writer.name, journals));
      }
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  },
);
