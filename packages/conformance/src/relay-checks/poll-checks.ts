import { limits } from "@human-plus/core/protocol";
import { type CheckDefinition, NoAnswerError } from "../check.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import type { RelayProbe } from "./relay-probe.ts";
import { createNotification, createReply, createRequest } from "./sample-frames.ts";
import { readOutboxPoll, readPoll, type TestSession } from "./test-session.ts";

/** How long a poll asks the relay to wait where nothing comes, in milliseconds: whole seconds, for both dialects. */
const WAIT_MS = 1_000;

/** Polls after which a frame counts as lost. */
const MAX_POLLS = 8;

/** One poll, whatever the dialect. */
interface Poll {
  readonly methods: readonly (string | undefined)[];
  readonly ids: readonly unknown[];
  /** What goes on from here. */
  readonly next: string | undefined;
}

interface Dialect {
  readonly name: "outbox" | "poll";
  readonly isOffered: (session: TestSession) => Promise<boolean>;
  readonly poll: (session: TestSession, options: { waitMs: number; from: string | undefined }) => Promise<Poll>;
  /** What the continuation has to look like. */
  readonly next: RegExp;
}

const dialects: readonly Dialect[] = [
  {
    name: "outbox",
    isOffered: async (session) => isRoute((await session.pollOutbox({ client: "one", wait: 0 })).status),
    async poll(session, { waitMs, from }) {
      const query = { client: "one", wait: waitMs / 1_000, after: from };
      const { frames, cursor } = readOutboxPoll(await session.pollOutbox(query));
      return { methods: frames.map(({ method }) => method), ids: frames.map(({ id }) => id), next: cursor };
    },
    next: /^.+$/,
  },
  {
    name: "poll",
    isOffered: async (session) => isRoute((await session.poll({ client: "one", wait: 0 })).status),
    async poll(session, { waitMs, from }) {
      const { frames, subscriber } = readPoll(await session.poll({ client: "one", wait: waitMs, subscriber: from }));
      return { methods: frames.map(({ method }) => method), ids: frames.map(({ id }) => id), next: subscriber };
    },
    next: /^[0-9a-f]{16}$/,
  },
];

/** Long polls, in both dialects: PROTOCOL.md section 2.3. A relay need not offer them. */
export const pollChecks: readonly CheckDefinition<RelayProbe>[] = dialects.flatMap((dialect) => [
  {
    id: `relay.poll-${dialect.name}.frames`,
    name: `dialect "${dialect.name}": polls bring responses and notifications`,
    section: "2.3",
    level: "optional",
    run: (probe: RelayProbe) =>
      withPolls(probe, dialect, async (session, from) => {
        const request = createRequest();
        const notification = createNotification();
        await session.say("surface", request, "one");
        await session.say("agents", createReply(request.id));
        await session.say("agents", notification);
        const got = await collect(session, dialect, from, notification.method);
        if (!got.ids.includes(request.id)) return doesNotHold("the response", "only the notification after it");
        return got.ids.filter((id) => id === request.id).length === 1
          ? holds()
          : doesNotHold("the response once", "the response more than once");
      }),
  },
  {
    id: `relay.poll-${dialect.name}.continues`,
    name: `dialect "${dialect.name}": a poll goes on where the last one ended`,
    section: "2.3",
    level: "optional",
    run: (probe: RelayProbe) =>
      withPolls(probe, dialect, async (session, from) => {
        const [first, second] = [createNotification(), createNotification()];
        await session.say("agents", first);
        const got = await collect(session, dialect, from, first.method);
        if (got.next !== undefined && !dialect.next.test(got.next))
          return doesNotHold(`a continuation like ${dialect.next.source}`, probe.quoter.quote(got.next));
        await session.say("agents", second);
        const after = await collect(session, dialect, got.next, second.method);
        if (after.methods.includes(first.method)) return doesNotHold("only what came after", "the first one again");
        return holds(got.next === undefined ? "without cursors, which a relay need not send" : undefined);
      }),
  },
  {
    id: `relay.poll-${dialect.name}.wait`,
    name: `dialect "${dialect.name}": an empty poll is answered in about the time it asked for, or at once`,
    section: "2.3",
    level: "optional",
    run: (probe: RelayProbe) =>
      withPolls(probe, dialect, async (session, from) => {
        const started = performance.now();
        await dialect.poll(session, { waitMs: WAIT_MS, from });
        const tookMs = Math.round(performance.now() - started);
        const most = WAIT_MS + 4_000;
        if (tookMs > most) return doesNotHold(`an answer within ${most} ms of asking for ${WAIT_MS}`, `${tookMs} ms`);
        return holds(tookMs < WAIT_MS / 2 ? "at once: agents pace themselves" : `after ${tookMs} ms`);
      }),
  },
  {
    id: `relay.poll-${dialect.name}.wakes`,
    name: `dialect "${dialect.name}": a waiting poll is answered when a frame comes`,
    section: "2.3",
    level: "optional",
    run: (probe: RelayProbe) =>
      withPolls(probe, dialect, async (session, from) => {
        const notification = createNotification();
        const started = performance.now();
        const waiting = dialect.poll(session, {
          waitMs: Math.min(probe.timeoutMs - 1_000, limits.pollWaitMaxMs),
          from,
        });
        await session.say("agents", notification);
        const { methods: got, next } = await waiting;
        if (got.includes(notification.method)) return holds(`after ${Math.round(performance.now() - started)} ms`);
        await collect(session, dialect, next ?? from, notification.method);
        return holds("with the next poll: this one had been answered already");
      }),
  },
]) satisfies readonly CheckDefinition<RelayProbe>[];

function isRoute(status: number): boolean {
  return status !== 404 && status !== 405;
}

/** Opens a session with a surface, and a first poll that says where to go on. */
function withPolls(
  probe: RelayProbe,
  dialect: Dialect,
  run: (session: TestSession, from: string | undefined) => Promise<Outcome>,
): Promise<Outcome> {
  return probe.inSession(async (session) => {
    if (!(await dialect.isOffered(session)))
      return unseen(`the relay does not offer dialect "${dialect.name}", which it need not`);
    const surface = await session.leg();
    const { next } = await dialect.poll(session, { waitMs: 0, from: undefined });
    await surface.part("the beginning of the stream", () => true);
    return run(session, next);
  });
}

/** Polls until a notification has come. */
async function collect(
  session: TestSession,
  dialect: Dialect,
  from: string | undefined,
  method: string,
): Promise<Poll> {
  const got: { methods: (string | undefined)[]; ids: unknown[] } = { methods: [], ids: [] };
  let next = from;
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const answer = await dialect.poll(session, { waitMs: WAIT_MS, from: next });
    next = answer.next ?? next;
    got.methods.push(...answer.methods);
    got.ids.push(...answer.ids);
    if (got.methods.includes(method)) return { ...got, next };
  }
  throw new NoAnswerError(`not in ${MAX_POLLS} polls`, { expected: "what the surface tells agents" });
}
