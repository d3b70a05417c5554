import { expect, test } from "vitest";
import { Invitation } from "../invitation.ts";
import type { Demand } from "../transport.ts";
import { createLeg } from "./leg.ts";

const invitation = new Invitation({
  relayBaseUrl: "https://relay.example/agent-relay",
  sessionId: "session-of-the-leg",
  token: "token-of-the-leg-0123456789",
  surfaceId: "board",
  application: "canvas",
});

/** A leg on a clock that goes on with every look at it, as clocks do, and what its receiver is told of who waits. */
async function openLeg(): Promise<{ leg: ReturnType<typeof createLeg>; demand: Demand; stepMs: number }> {
  const stepMs = 0.25;
  let time = 0;
  const opened = Promise.withResolvers<Demand>();
  const leg = createLeg({
    link: { id: "leg", client: "agent", invitation },
    receiver: {
      async open(_, { signal, demand }) {
        opened.resolve(demand);
        return {
          silent: false,
          async *[Symbol.asyncIterator]() {
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          },
        };
      },
    },
    idleLegMs: 1_000,
    now: () => {
      time += stepMs;
      return time;
    },
    random: () => 0,
    onDelivery: () => undefined,
    onGap: () => undefined,
    onFailure: () => undefined,
  });
  leg.need(stepMs);
  return { leg, demand: await opened.promise, stepMs };
}

test("a receiver is told how long the most patient waits, and never less than nothing once that is over", async () => {
  const { leg, demand, stepMs } = await openLeg();
  for (let look = 0; look < 3; look++) expect(demand.remainingMs()).toBe(0);
  const release = leg.need(10_000);
  leg.need(500);
  expect(demand.remainingMs()).toBeGreaterThan(9_000);
  expect(demand.remainingMs()).toBeLessThan(10_000 - stepMs);
  release();
  expect(demand.remainingMs()).toBeLessThan(500);
  expect(demand.remainingMs()).toBeGreaterThan(400);
  leg.close();
});
