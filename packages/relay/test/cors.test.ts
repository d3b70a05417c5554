import { describe, expect, test } from "vitest";
import { bindings } from "./support/bindings.ts";
import { openStream } from "./support/event-stream.ts";
import { send, TestSession } from "./support/session-client.ts";

const listed = "https://app.example";
const other = "https://app.example.evil.test";

describe.each(bindings)("browsers over %s", (_, start) => {
  test("a listed origin gets the headers, on every kind of answer", async () => {
    await using relay = await start({ cors: [listed, "http://localhost:5173"] });
    const session = new TestSession(relay);
    await session.register();
    for (const url of [`${relay.url}/`, session.route("poll", { wait: 0 }), session.route("nothing")]) {
      const { headers } = await send(url, { headers: { origin: listed } });
      expect(headers).toMatchObject({ "access-control-allow-origin": listed, vary: "origin" });
    }
    const stream = await openStream(session.route("events"), { origin: listed });
    expect(stream.headers["access-control-allow-origin"]).toBe(listed);
    const refused = await openStream(`${session.route("events")}x`, { origin: listed });
    expect(refused).toMatchObject({ status: 401, headers: { "access-control-allow-origin": listed } });
  });

  test("OPTIONS on any path is 204, with what the routes need", async () => {
    await using relay = await start({ cors: [listed] });
    for (const path of ["/register", "/canvas-1/events", "/anything", ""]) {
      const answer = await send(relay.url + path, { method: "OPTIONS", headers: { origin: listed } });
      expect(answer).toMatchObject({ status: 204, text: "" });
      expect(answer.headers).toMatchObject({
        "access-control-allow-origin": listed,
        "access-control-allow-methods": "POST, GET",
        "access-control-allow-headers": expect.stringContaining("last-event-id"),
      });
    }
  });

  test.each([other, "null", "https://app.example:444", "http://app.example", "HTTPS://APP.EXAMPLE"])(
    "the origin %s, which is not listed, is never reflected",
    async (origin) => {
      await using relay = await start({ cors: [listed] });
      for (const method of ["GET", "OPTIONS"]) {
        const answer = await send(`${relay.url}/`, { method, headers: { origin } });
        expect(answer.status).toBe(method === "GET" ? 200 : 204);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect(answer.headers["vary"]).toBe("origin");
      }
    },
  );

  test("with no list no origin is allowed, and with * every one", async () => {
    await using none = await start();
    await using all = await start({ cors: "*" });
    const headers = { origin: other };
    expect((await send(`${none.url}/`, { headers })).headers).not.toHaveProperty("access-control-allow-origin");
    expect((await send(`${none.url}/`, { method: "OPTIONS", headers })).status).toBe(204);
    expect((await send(`${all.url}/`, { headers })).headers).toMatchObject({ "access-control-allow-origin": "*" });
    expect((await send(`${all.url}/`, { method: "OPTIONS", headers })).headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "POST, GET",
    });
  });
});
