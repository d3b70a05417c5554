import { startRelay } from "@human-plus/relay";
import { createInvitation, toShareLink } from "@human-plus/surface";
import { bundlePage } from "./page-bundle.ts";
import { type Site, startPageServer } from "./page-server.ts";

/** A relay and a page, both on loopback. */
export interface DemoHost extends AsyncDisposable {
  /** Where a browser finds the page. */
  readonly pageUrl: string;
  /** Lets an agent join the page. It holds the token. */
  readonly shareLink: string;
  /** Settles when a browser has opened the page and agents can reach it. */
  pageConnected(): Promise<void>;
}

export interface DemoHostOptions {
  /** Port of the page; `0` takes a free one. */
  port: number;
  /** Makes what is served. @default the page of the canvas */
  site?: ((host: { readonly pageUrl: string; readonly shareLink: string }) => Promise<Site>) | undefined;
}

/**
 * The id under which an agent that joins by a share link, which names no surface, looks for one: presence is shown only
 * on the surface it is meant for.
 */
const SURFACE_ID = "surface";

/** Starts both. @throws Error with the system's code if the port is taken */
export async function startDemoHost({
  port,
  site = async () => ({ files: await bundlePage() }),
}: DemoHostOptions): Promise<DemoHost> {
  const page = await startPageServer(port);
  try {
    const relay = await startRelay({ cors: [new URL(page.url).origin] });
    const invitation = createInvitation({
      relayBaseUrl: relay.url,
      surfaceId: SURFACE_ID,
      application: "shared-canvas",
    });
    const shareLink = toShareLink(invitation);
    page.serve({ ...(await site({ pageUrl: page.url, shareLink })), invitation });
    return {
      pageUrl: page.url,
      shareLink,
      pageConnected: page.connected,
      async [Symbol.asyncDispose]() {
        await page.close();
        await relay.close();
      },
    };
  } catch (error) {
    await page.close();
    throw error;
  }
}
