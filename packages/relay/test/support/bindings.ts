import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type BindingOptions, type Broker, type BrokerOptions, createBroker } from "../../src/fetch.ts";
import { createFetchHandler } from "../../src/fetch-handler.ts";
import { createNodeListener } from "../../src/node-listener.ts";
import { createFetchServer } from "./fetch-server.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

export type TestOptions = BrokerOptions & BindingOptions;

/** A relay on a real server, with a clock that the test moves. */
export interface TestRelay extends AsyncDisposable {
  readonly url: string;
  readonly broker: Broker;
  readonly clock: ManualClock;
  readonly server: Server;
}

type Bind = (broker: Broker, options: BindingOptions) => Server;

async function start(bind: Bind, options: TestOptions): Promise<TestRelay> {
  const clock = createManualClock();
  const broker = createBroker({ clock, ...options });
  const server = bind(broker, options);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/agent-relay`,
    broker,
    clock,
    server,
    async [Symbol.asyncDispose]() {
      broker.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Every binding; the same tests run over each. */
export const bindings: readonly (readonly [string, (options?: TestOptions) => Promise<TestRelay>])[] = [
  ["node:http", (options = {}) => start((broker, more) => createServer(createNodeListener(broker, more)), options)],
  ["fetch", (options = {}) => start((broker, more) => createFetchServer(createFetchHandler(broker, more)), options)],
];
