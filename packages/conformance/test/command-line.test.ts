import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCommand, UsageError } from "../src/cli/flags.ts";
import { startSmallRelay } from "./parts/small-relay.ts";
import { type SmallSurface, startSmallSurface } from "./parts/small-surface.ts";

const cli = join(import.meta.dirname, "../src/cli.ts");

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ["--conditions=human-plus-source", cli, ...args]);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, "close");
  return { code, out, err };
}

function linkTo({ invitation }: SmallSurface): string {
  return `${invitation.relayBaseUrl}/${invitation.sessionId}?token=${invitation.token}`;
}

const probe = ["--read", "board_read", "--probe-write", "board_move", '{"card":"budget","x":5}'];

test.concurrent("a sound surface gives a table and exit code 0, and the plan of what is written goes to standard error", async () => {
  await using surface = await startSmallSurface();
  const { code, out, err } = await run("surface", linkTo(surface), "--local", ...probe);
  expect(code, out).toBe(0);
  expect(out).toMatch(/^holds +5 +must +a write with a stale pin is refused$/m);
  expect(out).toContain("cannot be seen");
  expect(err).toContain('it calls board_move with {"card":"budget","x":5}, at most 11 times');
  expect(out + err).not.toContain(surface.invitation.token);
});

test.concurrent("a rule that does not hold gives exit code 1, with its section, what was expected and what came", async () => {
  await using surface = await startSmallSurface("mints but does not enforce");
  const { code, out } = await run("surface", linkTo(surface), "--local", ...probe);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^DOES NOT HOLD +5 +must +a write with a stale pin is refused\n +expected: a refusal.*\n +received: it was written/m,
  );
});

test.concurrent("--observe asks somebody to act, and says that nothing happened where nobody does", async () => {
  await using surface = await startSmallSurface();
  const { code, out, err } = await run("surface", linkTo(surface), "--local", "--observe", "1");
  expect(code, out).toBe(0);
  expect(err).toContain("Act on the surface now, as a person: create or change something.");
  expect(out).toContain("nothing happened on the surface in the time that was observed");
});

test.concurrent("--json prints the report, without the token", async () => {
  await using surface = await startSmallSurface("offers to accept");
  const { code, out } = await run("surface", linkTo(surface), "--local", "--json", "--transport", "auto");
  expect(code).toBe(1);
  const report = JSON.parse(out);
  expect(report).toMatchObject({ subject: "surface", transport: "auto", ok: false, counts: { doesNotHold: 1 } });
  expect(report.results.find(({ status }: { status: string }) => status === "does_not_hold")).toMatchObject({
    id: "surface.tools.reserved",
    section: "7",
    level: "must",
    received: '1 of 4: "board.accept"',
  });
  expect(out).not.toContain(surface.invitation.token);
});

test.concurrent("--junit prints failures and skipped checks, escaped", async () => {
  await using relay = await startSmallRelay("no OPTIONS");
  const { code, out } = await run("relay", relay.url, "--local", "--junit", "--level", "must");
  expect(code).toBe(1);
  expect(out).toMatch(/^<\?xml/);
  expect(out).toMatch(/<testsuite name="human-plus-conformance.relay" tests="\d+" failures="1" skipped="\d+"/);
  expect(out).toContain('<failure message="404 &quot;&quot;">');
  expect(out).toContain("<skipped ");
});

test.concurrent("a relay that nobody answers at, and a surface that is gone, give exit code 3", async () => {
  let url = "";
  {
    await using relay = await startSmallRelay();
    url = relay.url;
    const gone = await run("surface", `${url}/no-such-session?token=gone-token-0123456789`, "--local");
    expect(gone.code).toBe(3);
    expect(gone.err).toContain("could not connect");
    expect(gone.err + gone.out).not.toContain("gone-token-0123456789");
  }
  const { code, err } = await run("relay", url, "--local");
  expect(code).toBe(3);
  expect(err).toContain("could not connect: nothing answers at");
});

test.concurrent("--help names every flag", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  for (const flag of [
    "json",
    "junit",
    "level",
    "timeout-ms",
    "local",
    "transport",
    "read",
    "observe",
    "probe-write",
    "origin",
  ])
    expect(out).toContain(`--${flag}`);
});

const token = "wrong-usage-token-0123456789";

test.each([
  [[], "say what to check"],
  [["canvas", "x"], "the first word is surface or relay"],
  [["relay"], "relay takes a relay base URL"],
  [["relay", "ftp://relay.example"], "should use https"],
  [["relay", "http://127.0.0.1:1/agent-relay"], "add --local"],
  [["relay", "http://relay.example/agent-relay", "--local"], "should use https"],
  [["relay", "https://relay.example/agent-relay", "--observe", "3"], "--observe is for surfaces"],
  [["relay", "https://relay.example/agent-relay", "--origin", "app.example"], "--origin takes scheme"],
  [["relay", "https://relay.example/agent-relay", "--level", "all"], "--level takes one of must"],
  [["relay", "https://relay.example/agent-relay", "--json", "--junit"], "take one of them"],
  [["relay", "https://relay.example/agent-relay", "--bogus"], "--bogus"],
  [
    ["relay", "https://relay.example/agent-relay", "--timeout-ms", "soon"],
    "--timeout-ms takes a positive whole number",
  ],
  [
    ["surface", `https://app.example/?session=abcd&token=${token}`, "--transport", "pigeon"],
    "--transport takes one of sse",
  ],
  [
    ["surface", `https://app.example/?session=abcd&token=${token}`, "--probe-write", "move"],
    "arguments as a JSON object",
  ],
  [
    ["surface", `https://app.example/?session=abcd&token=${token}`, "--probe-write", "move", "{x}"],
    "arguments as a JSON object",
  ],
  [
    ["surface", `https://app.example/?session=abcd&token=${token}`, "--origin", "https://a.example"],
    "--origin is for relays",
  ],
  [["surface", `https://app.example/?session=a b&token=${token}`], "sessionId"],
  [["surface", `http://app.example/?session=abcd&token=${token}`], "should use https"],
])("%j is a wrong command line", (args, message) => {
  let said = "";
  try {
    readCommand(args);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    said = String(error);
  }
  expect(said).toContain(message);
  expect(said).not.toContain(token);
});

test.concurrent("a wrong command line gives exit code 2, and nothing on standard output", async () => {
  const { code, err, out } = await run("surface", `http://app.example/?session=abcd&token=${token}`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("Try human-plus-conformance --help.");
  expect(err).not.toContain(token);
});
