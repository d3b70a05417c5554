import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";

/** Serves the page to a browser. */
export interface BoardServer extends AsyncDisposable {
  readonly url: string;
}

export async function startBoardServer(): Promise<BoardServer> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "page.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["human-plus-source"],
    logLevel: "silent",
  });
  const files = new Map([
    ["/", ["text/html", await readFile(join(import.meta.dirname, "page.html"), "utf8")]],
    ["/page.js", ["text/javascript", outputFiles[0]?.text ?? ""]],
  ]);
  const server = createServer(({ url = "" }, response) => {
    const [type = "text/plain", body] = files.get(url) ?? [];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
