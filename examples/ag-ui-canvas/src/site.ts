import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeListener } from "@human-plus/adapter-ag-ui/handler";
import { bundleScript, type PageFile, readPageFile } from "../../shared-canvas/src/page-bundle.ts";
import type { Site } from "../../shared-canvas/src/page-server.ts";
import type { Endpoint } from "./agent/endpoint.ts";

const pages = join(import.meta.dirname, "pages");
const sharedCanvas = join(import.meta.dirname, "../../shared-canvas/src/page");

/** The client brings a zod of its own, which tries whether the page may eval. One zod is enough, and it can be told not to. */
const zod = { "zod/v4": fileURLToPath(import.meta.resolve("zod/v4")) };

/** The canvas, the chat, both side by side, and the agent's endpoint: one origin. */
export async function createSite({ handler }: Endpoint): Promise<Site> {
  const files: Record<string, Promise<PageFile>> = {
    "/": readPageFile(join(pages, "side-by-side/index.html")),
    "/side-by-side.css": readPageFile(join(pages, "side-by-side/side-by-side.css")),
    "/canvas": readPageFile(join(sharedCanvas, "index.html")),
    "/base.css": readPageFile(join(sharedCanvas, "base.css")),
    "/page.css": readPageFile(join(sharedCanvas, "page.css")),
    "/icon.svg": readPageFile(join(sharedCanvas, "icon.svg")),
    "/page.js": bundleScript(join(pages, "canvas/main.ts")),
    "/chat": readPageFile(join(pages, "chat/chat.html")),
    "/chat.css": readPageFile(join(pages, "chat/chat.css")),
    "/chat.js": bundleScript(join(pages, "chat/main.ts"), zod),
  };
  const read = Object.entries(files).map(async ([path, file]) => [path, await file] as const);
  return {
    files: new Map(await Promise.all(read)),
    routes: new Map([["/agui", nodeListener(handler)]]),
    framed: true,
  };
}
