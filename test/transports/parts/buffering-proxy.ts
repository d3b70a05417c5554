import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const nginx = ["nginx", "/usr/sbin/nginx"].find((name) => spawnSync(name, ["-v"]).status === 0);

/** Why there is no nginx to test with, if so. */
export const missingNginx =
  nginx === undefined
    ? "nginx is not installed: apt-get update && apt-get install -y --no-install-recommends nginx-light"
    : undefined;

export interface Proxy extends AsyncDisposable {
  readonly port: number;
}

/** An nginx that buffers answers as it does unless told otherwise, in a folder of its own. */
export async function startBufferingProxy(targetPort: number): Promise<Proxy> {
  if (nginx === undefined) throw new Error(missingNginx);
  const folder = mkdtempSync(join(tmpdir(), "nginx-"));
  const port = await freePort();
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, targetPort));
  const child = spawn(nginx, ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], {
    stdio: "ignore",
  });
  await listening(port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// "x-accel-buffering: no" of our relay would switch buffering off; a proxy that does not know that header is played by
// one that ignores it.
function configuration(folder: string, port: number, targetPort: number): string {
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${targetPort};
      proxy_buffering on;
      proxy_buffer_size 16k;
      proxy_buffers 8 64k;
      proxy_busy_buffers_size 128k;
      proxy_ignore_headers X-Accel-Buffering;
    }
  }
}
`;
}

/** Passes TCP on, and resets each connection that asked for an event stream when that is `afterMs` old. */
export async function startResettingProxy(targetPort: number, afterMs: number): Promise<Proxy & { resets: number }> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      open.add(socket);
      socket.setNoDelay(true).on("error", end).on("close", end);
    }
    client.on("data", (chunk) => {
      if (!chunk.toString("latin1").includes("/events?")) return;
      timer = setTimeout(() => {
        proxy.resets++;
        client.resetAndDestroy();
      }, afterMs);
    });
    client.pipe(target).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = {
    port: (server.address() as AddressInfo).port,
    resets: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves once something listens. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
