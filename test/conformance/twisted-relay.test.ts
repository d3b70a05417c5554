import { checkRelay, reportToTable } from "@human-plus/conformance";
import { startRelay } from "@human-plus/relay";
import { expect, test } from "vitest";
import { startTwistingProxy, type Twist, type TwistedAnswer } from "./parts/twisting-proxy.ts";

interface Case {
  readonly what: string;
  readonly twist: () => Twist;
  /** What it is seen as, and nothing else. */
  readonly found: readonly string[];
}

type Asked = Parameters<NonNullable<Twist["answered"]>>[1];

/** Answers another status where the relay gave this code. */
function refuse(code: string, status: number, where: (asked: Asked) => boolean = () => true): Twist["answered"] {
  return (answer, asked) => {
    if (answer.body.includes(code) && where(asked)) Object.assign(answer, { status, body: '{"error":"other"}' });
  };
}

function isPoll({ method, url }: Asked): boolean {
  return method === "GET" && /\/(outbox|poll)$/.test(url.pathname);
}

/** Changes the frames of polls, in both dialects. */
function frames(change: (frames: string[], asked: Asked) => string[]): Twist["answered"] {
  return (answer, asked) => {
    if (!isPoll(asked) || answer.status !== 200) return;
    const body = JSON.parse(answer.body) as { frames: unknown[] };
    const texts = body.frames.map((frame) => (typeof frame === "string" ? frame : JSON.stringify(frame)));
    const isText = asked.url.pathname.endsWith("/poll");
    answer.body = JSON.stringify({
      ...body,
      frames: change(texts, asked).map((text) => (isText ? text : JSON.parse(text))),
    });
  };
}

function isRegister({ url }: Asked): boolean {
  return url.pathname.endsWith("/register");
}

function ok(answer: TwistedAnswer): void {
  Object.assign(answer, { status: 200, body: '{"ok":true}' });
}

const cases: readonly Case[] = [
  {
    what: "has no health",
    twist: () => ({
      answered(answer, { url }) {
        if (url.pathname.endsWith("relay/")) answer.status = 500;
      },
    }),
    found: ["relay.health"],
  },
  {
    what: "names sessions in its metrics",
    twist() {
      let registered = "";
      return {
        answered(answer, asked) {
          if (isRegister(asked)) registered += asked.body;
          if (asked.url.pathname.endsWith("/metrics")) answer.body += registered;
        },
      };
    },
    found: ["relay.metrics"],
  },
  {
    what: "registers once",
    twist() {
      const known = new Set<string>();
      return {
        answered(answer, asked) {
          if (isRegister(asked) && answer.status === 200 && known.has(asked.body)) answer.status = 401;
          known.add(asked.body);
        },
      };
    },
    found: ["relay.register.again"],
  },
  {
    what: "takes any session id",
    twist: () => ({ answered: (answer) => void (answer.body.includes("invalid_session_id") && ok(answer)) }),
    found: ["relay.register.session-id"],
  },
  {
    what: "takes any token",
    twist: () => ({
      answered: (answer, asked) => void (isRegister(asked) && answer.body.includes("invalid_token") && ok(answer)),
    }),
    found: ["relay.register.token"],
  },
  {
    what: "fails on bodies that are no JSON",
    twist: () => ({ answered: refuse("invalid_json", 500) }),
    found: ["relay.frame.malformed", "relay.register.json"],
  },
  {
    what: "answers unknown paths",
    twist: () => ({ answered: (answer) => void (answer.body.includes("not_found") && ok(answer)) }),
    found: ["relay.unknown-route"],
  },
  {
    what: "knows no 405",
    twist: () => ({ answered: refuse("method_not_allowed", 404) }),
    found: ["relay.method"],
  },
  {
    what: "does not let anybody leave twice",
    twist() {
      const ended = new Set<string>();
      return {
        answered(answer, { url }) {
          if (!url.pathname.endsWith("/unregister")) return;
          if (ended.has(url.pathname)) Object.assign(answer, { status: 401, body: '{"error":"invalid_token"}' });
          ended.add(url.pathname);
        },
      };
    },
    found: ["relay.unregister.gone"],
  },
  {
    what: "says nothing to browsers",
    twist: () => ({
      answered({ headers }) {
        headers["access-control-allow-origin"] = undefined;
      },
    }),
    found: ["relay.cors"],
  },
  {
    what: "takes waits for a thousand times as long",
    twist: () => ({
      asked({ searchParams }) {
        const wait = searchParams.get("wait");
        if (wait !== null) searchParams.set("wait", String(Number(wait) * 1_000));
      },
    }),
    found: ["relay.poll-outbox.wait", "relay.poll-poll.wait"],
  },
  {
    what: "gives polls each frame twice",
    twist: () => ({ answered: frames((texts) => texts.flatMap((text) => [text, text])) }),
    found: ["relay.poll-outbox.frames", "relay.poll-poll.frames"],
  },
  {
    what: "gives polls everything again",
    twist() {
      const given = new Map<string, string[]>();
      return {
        answered: frames((texts, { url }) => {
          const all = [...(given.get(url.pathname) ?? []), ...texts];
          given.set(url.pathname, all);
          return all;
        }),
      };
    },
    found: ["relay.poll-outbox.continues", "relay.poll-poll.continues"],
  },
  {
    what: "gives polls no responses",
    twist: () => ({ answered: frames((texts) => texts.filter((text) => !text.includes('"result"'))) }),
    found: [
      "relay.exchange.longpoll",
      "relay.exchange.longpoll-outbox",
      "relay.exchange.longpoll-poll",
      "relay.poll-outbox.frames",
      "relay.poll-poll.frames",
    ],
  },
];

test.concurrent.each(cases)("a relay that $what is found out, for that alone", async ({ twist, found }) => {
  await using relay = await startRelay({ keepAliveMs: 200, surfaceGraceMs: 2_000, cors: "*" });
  await using proxy = await startTwistingProxy(relay.url, twist());
  const report = await checkRelay(proxy.url, { local: true, origin: "https://app.example", timeoutMs: 7_000 });
  const findings = report.results.filter(({ status }) => status === "does_not_hold").map(({ id }) => id);
  expect(findings.sort(), reportToTable(report)).toEqual(found);
});
