import { type DemoHost, startDemoHost } from "../../shared-canvas/src/demo-host.ts";
import { createEndpoint, type Endpoint, type EndpointOptions } from "./agent/endpoint.ts";
import { createSite } from "./site.ts";

export interface StartHostOptions extends Pick<EndpointOptions, "beforeMove" | "onError"> {
  /** Port of the pages; `0` takes a free one. */
  port: number;
}

/** Starts relay, pages and endpoint, all on loopback. @throws Error with the system's code if the port is taken */
export async function startHost({ port, ...options }: StartHostOptions): Promise<DemoHost> {
  const endpoints: Endpoint[] = [];
  const host = await startDemoHost({
    port,
    async site({ pageUrl, shareLink }) {
      const endpoint = createEndpoint({ shareLink, origin: new URL(pageUrl).origin, ...options });
      endpoints.push(endpoint);
      return createSite(endpoint);
    },
  });
  return {
    ...host,
    async [Symbol.asyncDispose]() {
      for (const endpoint of endpoints) await endpoint[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}
