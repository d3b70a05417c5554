import type { AddressInfo } from "node:net";
import { checkRelay, type Report, reportToTable } from "@human-plus/conformance";
import { createBroker, createFetchHandler, startRelay } from "@human-plus/relay";
import { expect, test } from "vitest";
import { createFetchServer } from "../transports/parts/fetch-server.ts";

// Times are short so that what comes with time comes soon; what is said and carried is as ever.
const settings = { keepAliveMs: 200, surfaceGraceMs: 2_000 };
const cors = ["https://app.example"];
const options = { local: true, origin: "https://app.example" };

test("our relay on node:http holds the contract, and leaves nothing of it unseen", async () => {
  await using relay = await startRelay({ ...settings, cors });
  expectSound(await checkRelay(relay.url, options), []);
});

test("our relay as a fetch handler holds the contract", async () => {
  const broker = createBroker(settings);
  const server = createFetchServer(createFetchHandler(broker, { cors }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    // The handler was given no metrics to tell.
    expectSound(await checkRelay(`http://127.0.0.1:${port}/agent-relay`, options), ["relay.metrics"]);
  } finally {
    broker.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("the checks leave no session behind", async () => {
  await using relay = await startRelay({ ...settings, cors });
  await checkRelay(relay.url, options);
  expect(relay.broker.stats().sessions).toBe(0);
});

function expectSound(report: Report, unseen: readonly string[]): void {
  expect(report.counts.doesNotHold, reportToTable(report)).toBe(0);
  expect(report.results.filter(({ status }) => status === "unseen").map(({ id }) => id)).toEqual(unseen);
}
