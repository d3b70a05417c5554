import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import {
  eventStream,
  type Invitation,
  type JsonObject,
  methods,
  parseChangeFeed,
  parseFrame,
  sendToSurfaceUrl,
  streamEventsUrl,
} from "@human-plus/core/protocol";
import { startRelay } from "@human-plus/relay";
import {
  type ConnectionState,
  type ConnectOptions,
  connectSurface,
  createInvitation,
  createSurface,
  type Surface,
  type SurfaceConnection,
} from "@human-plus/surface";
import { EventSource } from "eventsource";
import { describe, expect, test } from "vitest";

const FAST = { minBackoffMs: 10, maxBackoffMs: 50 } satisfies ConnectOptions;

function createCounter(): { surface: Surface; count: () => number } {
  const surface = createSurface({ id: "counter", application: "test" });
  let count = 0;
  surface.tool({
    name: "add",
    touches: ["count"],
    handler: (_, call) => String(call.commit({ handle: "count", kind: "updated" }, () => ++count)),
  });
  surface.tool({ name: "echo", touches: "none", handler: ({ text }) => String(text) });
  return { surface, count: () => count };
}

function invite(relayBaseUrl: string): Invitation {
  return createInvitation({ relayBaseUrl, surfaceId: "counter", application: "test" });
}

/** An agent with bare fetch and an event stream: the other end of the wire, and nothing of ours. */
async function join({ relayBaseUrl, sessionId, token }: Invitation, client = crypto.randomUUID()) {
  const source = new EventSource(streamEventsUrl(relayBaseUrl, sessionId, { token, client, direction: "outbound" }));
  const waiting = new Map<string, (frame: JsonObject) => void>();
  const notifications: string[] = [];
  source.addEventListener("mcp", ({ data }) => {
    const frame = parseFrame(JSON.parse(data));
    if (frame.method !== undefined) notifications.push(frame.method);
    else waiting.get(String(frame.id))?.({ ...(frame.result ?? frame.error) });
  });
  await new Promise<void>((resolve) => {
    source.onopen = () => resolve();
  });

  async function post(frame: JsonObject): Promise<void> {
    const posted = await fetch(sendToSurfaceUrl(relayBaseUrl, sessionId, { token, client }), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(frame),
    });
    if (!posted.ok) throw new Error(`${posted.status} ${await posted.text()}`);
  }

  return {
    notifications,
    async notify(method: string, params: JsonObject): Promise<void> {
      await post({ jsonrpc: "2.0", method, params });
    },
    async call(name: string, args: JsonObject = {}): Promise<JsonObject> {
      const id = crypto.randomUUID();
      const answer = new Promise<JsonObject>((resolve) => waiting.set(id, resolve));
      await post({ jsonrpc: "2.0", id, method: methods.callTool, params: { name, arguments: args } });
      return answer;
    },
    [Symbol.dispose]: () => source.close(),
  };
}

function textOf(result: JsonObject): unknown {
  return (result["content"] as { text: string }[] | undefined)?.[0]?.text ?? result;
}

function until(connection: SurfaceConnection, holds: (state: ConnectionState) => boolean): Promise<ConnectionState> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds(connection.getSnapshot())) return;
      unsubscribe();
      resolve(connection.getSnapshot());
    };
    const unsubscribe = connection.subscribe(look);
    look();
  });
}

describe.each(["stream", "poll"] as const)("a surface that receives by %s", (receive) => {
  test("answers agents, each its own", async () => {
    await using relay = await startRelay();
    const { surface, count } = createCounter();
    const invitation = invite(relay.url);
    await using connection = connectSurface(surface, invitation, { receive, ...FAST });
    await connection.opened();
    expect(connection.getSnapshot()).toEqual({ status: "open", receiving: receive, failures: 0 });
    using one = await join(invitation);
    using two = await join(invitation);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : two).call("echo", { text: `text ${index}` })),
    );
    expect(answers.map(textOf)).toEqual(answers.map((_, index) => `text ${index}`));
    expect(textOf(await one.call("add"))).toBe("1");
    expect(count()).toBe(1);
  });

  test("registers again after the relay forgot it, and loses no later call", async () => {
    const first = await startRelay();
    const port = Number(new URL(first.url).port);
    const { surface, count } = createCounter();
    const invitation = invite(first.url);
    await using connection = connectSurface(surface, invitation, { receive, ...FAST });
    await connection.opened();
    {
      using agent = await join(invitation);
      await agent.call("add");
    }
    await first.close();
    await until(connection, ({ status }) => status === "reconnecting");
    await using _second = await startRelay({ port });
    await until(connection, ({ status }) => status === "open");
    using agent = await join(invitation);
    expect(textOf(await agent.call("add"))).toBe("2");
    expect(count()).toBe(2);
    const { changes } = parseChangeFeed(await agent.call("changes_since"));
    expect(changes).toHaveLength(2);
  });

  test("ends the session when it closes, and leaves nothing running", async () => {
    await using relay = await startRelay();
    const { surface } = createCounter();
    const invitation = invite(relay.url);
    const connection = connectSurface(surface, invitation, { receive, ...FAST });
    await connection.opened();
    await connection.close();
    expect(connection.getSnapshot().status).toBe("closed");
    const answer = await fetch(
      sendToSurfaceUrl(relay.url, invitation.sessionId, { token: invitation.token, client: "x" }),
      {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: "1", method: methods.ping }),
      },
    );
    expect(answer.status).toBe(410);
    await expect(connection.opened()).rejects.toThrow("closed");
    surface.commit({ handle: "count", kind: "updated" }, () => {});
  });

  test("is refused for good when the session belongs to somebody else", async () => {
    await using relay = await startRelay();
    const invitation = invite(relay.url);
    await using owner = connectSurface(createCounter().surface, invitation, { receive, ...FAST });
    await owner.opened();
    const stranger = { ...invitation, token: "another-token-of-thirty-characters" };
    const connection = connectSurface(createCounter().surface, stranger, { receive, ...FAST });
    const failure = await connection.opened().catch((error: unknown) => error);
    expect(connection.getSnapshot().status).toBe("refused");
    expect(inspect([failure, connection, connection.getSnapshot()], { depth: 5 })).not.toContain(stranger.token);
  });

  test("closes when its signal aborts", async () => {
    await using relay = await startRelay();
    const stop = new AbortController();
    const connection = connectSurface(createCounter().surface, invite(relay.url), { receive, signal: stop.signal });
    await connection.opened();
    stop.abort();
    expect(connection.getSnapshot().status).toBe("closed");
  });
});

describe("a surface", () => {
  test("handles every call once while its stream is cut again and again", async () => {
    await using relay = await startRelay();
    await using proxy = await startProxy(relay.url, () => undefined);
    const { surface, count } = createCounter();
    const invitation = invite(proxy.url);
    await using connection = connectSurface(surface, invitation, FAST);
    await connection.opened();
    using agent = await join({ ...invitation, relayBaseUrl: relay.url });
    const answers: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: 20 }, () => agent.call("add"));
      proxy.cut();
      answers.push(...(await Promise.all(calls)).map(textOf));
    }
    expect(answers.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect(count()).toBe(60);
  });

  test("sees an agent come and go", async () => {
    await using relay = await startRelay({ peerGraceMs: 20 });
    const { surface } = createCounter();
    const invitation = invite(relay.url);
    await using connection = connectSurface(surface, invitation, FAST);
    await connection.opened();
    const isConnected = (connected: boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (surface.getSnapshot().participants[0]?.connected !== connected) return;
          unsubscribe();
          resolve();
        };
        const unsubscribe = surface.subscribe(look);
        look();
      });
    {
      using agent = await join(invitation);
      await agent.notify(methods.activity, {
        actor: { id: "tidy", name: "Tidy", type: "agent" },
        surfaceId: "counter",
        sessionId: invitation.sessionId,
        action: "counting",
        priority: "normal",
      });
      await isConnected(true);
    }
    await isConnected(false);
  });

  test("tells agents that its tools changed", async () => {
    await using relay = await startRelay();
    const { surface } = createCounter();
    const invitation = invite(relay.url);
    await using connection = connectSurface(surface, invitation, FAST);
    await connection.opened();
    using agent = await join(invitation);
    surface.tool({ name: "more", handler: () => "more" });
    expect(textOf(await agent.call("more"))).toBe("more");
    expect(agent.notifications).toContain(methods.toolsListChanged);
  });

  test("waits for a relay that is not there yet", async () => {
    const relay = await startRelay();
    const port = Number(new URL(relay.url).port);
    await relay.close();
    const connection = connectSurface(createCounter().surface, invite(relay.url), FAST);
    await until(connection, ({ failures }) => failures >= 2);
    await using _late = await startRelay({ port });
    await connection.opened();
    await connection.close();
  });

  test("falls back to polling where no stream opens, and says so", async () => {
    await using relay = await startRelay();
    await using proxy = await startProxy(relay.url, (url) => (url.includes("/events") ? 502 : undefined));
    const { surface } = createCounter();
    const invitation = invite(proxy.url);
    await using connection = connectSurface(surface, invitation, FAST);
    await connection.opened();
    expect(connection.getSnapshot().receiving).toBe("poll");
    using agent = await join({ ...invitation, relayBaseUrl: relay.url });
    expect(textOf(await agent.call("add"))).toBe("1");
  });

  test("delivers an answer after the relay was busy, once", async () => {
    let busy = 3;
    await using relay = await startRelay();
    await using proxy = await startProxy(relay.url, (url) => (url.includes("/outbox") && busy-- > 0 ? 503 : undefined));
    const { surface, count } = createCounter();
    const invitation = invite(proxy.url);
    await using connection = connectSurface(surface, invitation, FAST);
    await connection.opened();
    using agent = await join({ ...invitation, relayBaseUrl: relay.url });
    expect(textOf(await agent.call("add"))).toBe("1");
    expect(busy).toBeLessThan(0);
    expect(count()).toBe(1);
  });

  test("tells the agent when its answer is more than this relay carries", async () => {
    await using relay = await startRelay();
    await using proxy = await startProxy(relay.url, (url, bytes) =>
      url.includes("/outbox") && bytes > 10_000 ? 413 : undefined,
    );
    const invitation = invite(proxy.url);
    await using connection = connectSurface(createCounter().surface, invitation, FAST);
    await connection.opened();
    using agent = await join({ ...invitation, relayBaseUrl: relay.url });
    expect(await agent.call("echo", { text: "x".repeat(20_000) })).toMatchObject({
      message: expect.stringContaining("larger than a relay carries"),
    });
    expect(textOf(await agent.call("echo", { text: "small" }))).toBe("small");
  });
});

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Breaks what is open. */
  cut(): void;
}

/** A hop in front of a relay that answers some requests by itself. */
async function startProxy(
  target: string,
  refuse: (url: string, bodyBytes: number) => number | undefined,
): Promise<Proxy> {
  const { origin, pathname } = new URL(target);
  const server: Server = createServer((request, response) => void forward(request, response));

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const status = refuse(request.url ?? "", body.length);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const cursor = request.headers[eventStream.cursorHeader];
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
      const answer = await fetch(`${origin}${request.url}`, {
        method: request.method ?? "GET",
        headers: {
          "content-type": "application/json",
          ...(typeof cursor === "string" && { [eventStream.cursorHeader]: cursor }),
        },
        signal: gone.signal,
        ...(body.length > 0 && { body }),
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    } catch {
      response.destroy();
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    cut: () => server.closeAllConnections(),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
