import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PageFile } from "./page-bundle.ts";

export interface PageServer {
  readonly url: string;
  /** Serves a page whose surface is this invitation's. Before that, every request is refused. */
  serve(page: ServedPage): void;
  /** Settles when a browser has opened the page and its surface can be reached. */
  connected(): Promise<void>;
  close(): Promise<void>;
}

/** What is served besides the invitation. */
export interface Site {
  readonly files: ReadonlyMap<string, PageFile>;
  /** Whoever answers by itself, by path. @default nobody */
  readonly routes?: ReadonlyMap<string, RequestListener> | undefined;
  /** Its pages may be in frames of each other. @default false */
  readonly framed?: boolean | undefined;
}

interface ServedPage extends Site {
  /** What the page needs to be a surface: handed to pages of this origin only. */
  readonly invitation: { readonly relayBaseUrl: string };
}

/** Serves the page on loopback. @throws Error with the system's code if it cannot listen there */
export async function startPageServer(port: number): Promise<PageServer> {
  const { promise: connected, resolve: setConnected } = Promise.withResolvers<void>();
  let page: ServedPage | undefined;
  const server = createServer((request, response) => {
    // Another site whose name leads to loopback must not read the invitation.
    if (request.headers.host !== new URL(url).host || page === undefined) {
      send(response, { status: 403, body: "Forbidden" });
      return;
    }
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const route = page.routes?.get(pathname);
    if (route === undefined) send(response, answer(request, pathname, page, setConnected), page);
    else route(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    serve(served) {
      page = served;
    },
    connected: () => connected,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

function answer({ method }: IncomingMessage, pathname: string, page: ServedPage, onConnected: () => void): Answer {
  if (pathname === "/connected" && method === "POST") {
    onConnected();
    return { status: 204, body: "" };
  }
  if (method !== "GET") return { status: 405, body: "Method not allowed" };
  if (pathname === "/invitation.json")
    return { status: 200, body: JSON.stringify(page.invitation), type: "application/json; charset=utf-8" };
  return { status: 404, body: "Not found", ...found(page.files.get(pathname)) };
}

function found(file: PageFile | undefined): Answer | undefined {
  return file && { status: 200, ...file };
}

function send(
  response: ServerResponse,
  { status, body, type = "text/plain; charset=utf-8" }: Answer,
  page?: ServedPage,
): void {
  const relay = page === undefined ? "" : new URL(page.invitation.relayBaseUrl).origin;
  response.writeHead(status, {
    "content-type": type,
    "content-security-policy": [
      "default-src 'self'",
      `connect-src 'self' ${relay}`.trim(),
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors '${page?.framed === true ? "self" : "none"}'`,
    ].join("; "),
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}
