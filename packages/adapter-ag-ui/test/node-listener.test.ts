import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { nodeListener } from "../src/handler.ts";

async function ask(listener: RequestListener): Promise<Response> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  try {
    await once(server, "listening");
    return await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const cookies = ["a=1; Path=/", "b=2; HttpOnly"] as const;

async function withCookies(): Promise<Response> {
  const response = new Response(null, { status: 204, headers: { "x-run": "r" } });
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  return response;
}

test("an answer keeps each of its cookies", async () => {
  const { status, headers } = await ask(nodeListener(withCookies));
  expect({ status, run: headers.get("x-run") }).toEqual({ status: 204, run: "r" });
  expect(headers.getSetCookie()).toEqual(cookies);
});

test("so does one to which the server has added headers before", async () => {
  const answer = nodeListener(withCookies);
  const { headers } = await ask((incoming, outgoing) => {
    outgoing.setHeader("access-control-allow-origin", "*");
    answer(incoming, outgoing);
  });
  expect(headers.getSetCookie()).toEqual(cookies);
  expect(headers.get("access-control-allow-origin")).toBe("*");
});
