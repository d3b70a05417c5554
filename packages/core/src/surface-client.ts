import { invalidArgument } from "./argument.ts";
import type { AttachmentRow, AttachmentState, ObservedRevision } from "./attachment.ts";
import { AttachmentRows } from "./attachment-rows.ts";
import type { AttachmentStore } from "./attachment-store.ts";
import { type CallResult, readCallResult } from "./call-result.ts";
import { admitTools, type Catalogue, listTools } from "./catalogue.ts";
import { type ChangeReport, hasFailed, readChangeFeed, unansweredReport } from "./change-feed.ts";
import { assertRevisionAvailable, observeRevision } from "./conflict-detection.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { HumanPlusError } from "./error.ts";
import { limits } from "./gen/constants.ts";
import type { Implementation, JsonObject, Notification } from "./gen/types.ts";
import type { CallOptions, ChangesSinceOptions, ListToolsOptions } from "./human-plus.ts";
import { dispatchNotification, dropCatalogue, type LinkName, type LinkState, rememberProposal } from "./link-state.ts";
import { LinkStates } from "./link-states.ts";
import { CallReading, type Reading, requireReading } from "./reading.ts";
import type { ResultGuard, TextSource } from "./result-guard.ts";
import type { SurfaceEventEmitter } from "./surface-events.ts";
import { ToolCaller } from "./tool-caller.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import type { RelayTransport } from "./transport.ts";
import { isDeclared, refusalOf } from "./trust-policy.ts";
import { createTurn, handlesToProtect, type Turn, type TurnOptions, TurnProtection } from "./turn.ts";

export interface SurfaceClientOptions {
  transport: RelayTransport;
  store: AttachmentStore;
  clientInfo: Implementation;
  guard: ResultGuard;
  events: SurfaceEventEmitter;
  now: () => number;
  randomId: () => string;
}

interface Limits {
  signal: AbortSignal | undefined;
  timeoutMs: number;
}

/** The life of a call: trust, lock, catalogue, pin, exchange, marker, guard. ARCHITECTURE.md walks through it. */
export class SurfaceClient {
  readonly #options: SurfaceClientOptions;
  readonly #rows: AttachmentRows;
  readonly #links: LinkStates;
  readonly #caller: ToolCaller;
  readonly #unsubscribe: ReadonlyArray<() => void>;

  constructor(options: SurfaceClientOptions) {
    this.#options = options;
    const { transport, store, now, events, guard } = options;
    this.#links = new LinkStates(options);
    this.#rows = new AttachmentRows({
      store,
      now,
      forget: (row) => this.forget(row),
      onEnded: (attachmentId, state) => events.emit("attachmentEnded", { attachmentId, state }),
    });
    this.#caller = new ToolCaller({ ...options, rows: this.#rows });
    this.#unsubscribe = [
      transport.onNotification((link, notification) => {
        const state = this.#links.get(link);
        if (state !== undefined) dispatchNotification(state, notification, events, guard);
      }),
      // What was lost may have said that the tools changed.
      transport.onGap((link) => {
        const state = this.#links.get(link);
        if (state !== undefined) dropCatalogue(state);
      }),
      transport.onEnd((link, error) => {
        const state = this.#links.get(link);
        if (state === undefined) return;
        const { attachmentId: id, attachKey } = state;
        // A store that fails is heard of with the next operation, which the relay refuses as well.
        this.#rows.recordEnd({ id, attachKey }, error).catch(() => undefined);
      }),
    ];
  }

  async tools(row: AttachmentRow, options: ListToolsOptions & Limits): Promise<readonly ToolDefinition[]> {
    assertTrusted(row);
    const state = this.#links.of(row);
    const deadline = createDeadline(options);
    return this.#rows.locked(row, deadline, async (current) => {
      if (options.fresh === true) state.catalogue = undefined;
      return (await this.#catalogue(state, current, deadline)).catalogue.tools;
    });
  }

  async call(row: AttachmentRow, tool: string, args: JsonObject, options: CallOptions & Limits): Promise<CallResult> {
    assertTrusted(row);
    assertAdmitted(row, tool);
    if (typeof args !== "object" || args === null || Array.isArray(args))
      throw invalidArgument("args should be an object");
    const reading = requireReading(options.reading);
    reading?.assertOf(row);
    const state = this.#links.of(row);
    state.protection?.assertFree(tool, args);
    const deadline = createDeadline(options);
    return this.#rows.locked(row, deadline, async (current) => {
      state.protection?.assertFree(tool, args); // of a turn that began while this call waited
      const { catalogue, row: listed } = await this.#catalogue(state, current, deadline);
      const offered = catalogue.find(tool);
      if (offered === undefined) {
        throw new HumanPlusError("tool_refused", `the surface does not offer a tool ${tool} that this agent may call`);
      }
      if (options.digest !== undefined && (await offered.digest()) !== options.digest) {
        const message = `the surface defines ${tool} otherwise by now; it was not called`;
        throw new HumanPlusError("tool_definition_changed", message);
      }
      assertRevisionAvailable(listed);
      const asked = reading?.doubt === undefined ? listed : await this.#settle(reading, state, listed, deadline);
      const pin = reading === undefined ? asked.revision : reading.pin;
      const source = sourceOf(asked, tool);
      const sent = this.#caller.call(state, asked, source, args, deadline, { ...options, pin });
      const result = reading === undefined ? await sent : await reading.unlessRefused(sent);
      const catchesUp = !isBehind(asked) && pin?.marker === asked.revision?.marker;
      const { row: observed, revision, notices } = await this.#observe(asked, result, tool, { catchesUp });
      if (revision !== undefined) reading?.answered(revision);
      const read = readCallResult(result, source, this.#options.guard);
      if (read.proposal !== undefined) rememberProposal(state, read.proposal.id, tool);
      const unprotected =
        observed.conflictDetection === "unavailable" && observed.conflictDetection !== asked.conflictDetection;
      if (unprotected)
        notices.push("This surface mints no revisions: it cannot tell whether a call overwrites somebody's work.");
      return { ...read, revision: revision?.marker, notices: [...read.notices, ...notices] };
    });
  }

  /**
   * Finds out whether what the calls beside this one gave tells of the caller's own writes alone. Where that is not known it
   * is not taken for read: the surface then refuses what is not fresh.
   */
  async #settle(
    reading: CallReading,
    state: LinkState,
    row: AttachmentRow,
    deadline: Deadline,
  ): Promise<AttachmentRow> {
    // A feed that does not answer leaves time for the call itself.
    const half = createDeadline({ signal: deadline.signal, timeoutMs: deadline.remainingMs() / 2 });
    try {
      const { report, revision, row: asked } = await this.#changes(state, row, half, { since: reading.doubt });
      const isOwn = report.answered && report.complete && report.unreadable === 0 && report.deferTo.length === 0;
      reading.settle(isOwn, revision);
      return asked;
    } catch {
      reading.settle(false);
      return (await this.#options.store.get(row.id)) ?? row;
    }
  }

  /** What has been read through the attachment until now. */
  reading(row: AttachmentRow): Reading {
    return new CallReading(row);
  }

  changesSince(row: AttachmentRow, options: ChangesSinceOptions & Limits): Promise<ChangeReport> {
    return this.#withChanges(row, options, (report) => report);
  }

  /** Asks what changed, and uses the report before any call that waits for it. */
  async #withChanges<T>(
    row: AttachmentRow,
    { since, reading: given, ...limitsOfCall }: ChangesSinceOptions & Limits,
    use: (report: ChangeReport) => T,
  ): Promise<T> {
    assertTrusted(row);
    const reading = requireReading(given);
    reading?.assertOf(row);
    if (since !== undefined && reading !== undefined)
      throw invalidArgument("since should be left out where there is a reading, which says since when");
    const state = this.#links.of(row);
    const deadline = createDeadline(limitsOfCall);
    return this.#rows.locked(row, deadline, async (current) =>
      use((await this.#changes(state, current, deadline, { since, reading })).report),
    );
  }

  async #changes(
    state: LinkState,
    row: AttachmentRow,
    deadline: Deadline,
    { since, reading }: { readonly since?: string | undefined; readonly reading?: CallReading | undefined },
  ): Promise<{ report: ChangeReport; revision?: ObservedRevision | undefined; row: AttachmentRow }> {
    const { catalogue, row: listed } = await this.#catalogue(state, row, deadline);
    const feed = catalogue.changeFeed;
    if (feed === undefined || !feed.admitted) {
      const what = feed === undefined ? "no change feed" : "a change feed that this agent may not call";
      const text = `The surface offers ${what}: whether something changed is not known.`;
      return { report: unansweredReport(listed.changeFeed, text), row: listed };
    }
    const source = sourceOf(listed, feed.name);
    const from = since ?? reading?.since ?? listed.lastRead?.marker;
    const pin = reading === undefined ? listed.revision : reading.pin;
    const args = from === undefined ? {} : { since: from };
    const sent = this.#caller.call(state, listed, source, args, deadline, { pin });
    const result = reading === undefined ? await sent : await reading.unlessRefused(sent);
    const report = readChangeFeed(result, listed.changeFeed, source, this.#options.guard);
    const read = { ...listed, changeFeed: report.state };
    // Whoever asks from elsewhere looks something up: what is news for the agent stays so, and so does its pin.
    if (since === undefined && !hasFailed(result)) {
      const catchesUp = from === listed.lastRead?.marker;
      const { row: observed, revision } = await this.#observe(read, result, feed.name, { catchesUp });
      if (revision !== undefined) reading?.answered(revision);
      return { report, row: observed };
    }
    if (report.state !== listed.changeFeed) await this.#rows.put(read);
    const { revision } = observeRevision(listed, result, feed.name, this.#options.now());
    return { report, revision, row: read };
  }

  async turn(row: AttachmentRow, options: TurnOptions & Limits): Promise<Turn> {
    const handlesOf = handlesToProtect(options);
    const state = this.#links.of(row);
    state.protection = undefined;
    const { signal, timeoutMs } = options;
    return this.#withChanges(row, { signal, timeoutMs }, (report) => {
      let protection: TurnProtection | undefined;
      const turn = createTurn(report, () => {
        if (state.protection === protection) state.protection = undefined;
      });
      protection = handlesOf && new TurnProtection(turn.leaveAlone, handlesOf);
      state.protection = protection;
      return turn;
    });
  }

  announce(row: AttachmentRow, notification: Notification): void {
    assertTrusted(row);
    const { transport, events } = this.#options;
    const { link } = this.#links.of(row).session;
    transport.notify(link, notification, { timeoutMs: limits.exchangeTimeoutMs }).catch((error: HumanPlusError) => {
      events.emit("announceFailed", { attachmentId: row.id, error });
    });
  }

  async detach(row: AttachmentRow, { signal, timeoutMs }: Limits): Promise<void> {
    const { link } = this.#links.of(row).session;
    this.forget(row); // first: what is between two requests of a call sends no other one
    await this.#options.transport.detach(link, { signal, timeoutMs });
  }

  /** Writes how an attachment ended. */
  end(row: AttachmentRow, state: AttachmentState): Promise<void> {
    return this.#rows.end(row, state);
  }

  watch(row: AttachmentRow): () => void {
    assertTrusted(row);
    return this.#options.transport.hold(this.#links.of(row).session.link);
  }

  /** Drops what is known of one generation, and lets nothing of it leave any more; gives whether anything was known. */
  forget(row: LinkName): boolean {
    return this.#links.forget(row);
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#links.clear();
    this.#rows.close();
    await this.#options.transport.close();
  }

  /** The tools as trust admits them, listed when they have to be. Whatever fails here, the call itself was not made. */
  async #catalogue(
    state: LinkState,
    row: AttachmentRow,
    deadline: Deadline,
  ): Promise<{ catalogue: Catalogue; row: AttachmentRow }> {
    const { now } = this.#options;
    const known = state.catalogue;
    if (known !== undefined && row.discovery === "cached" && now() - known.listedAt < limits.catalogueTtlMs)
      return { catalogue: known.value, row };
    const { toolChanges } = state;
    try {
      await state.session.open(deadline);
      const { tools, unreadable } = await listTools(state.session, deadline);
      const catalogue = await admitTools(tools, unreadable, row.trust);
      // A list that news of a change overtook is good for this operation, and for none after it.
      if (state.toolChanges === toolChanges) state.catalogue = { value: catalogue, listedAt: now() };
      const changeFeed = feedStateOf(row, catalogue);
      if (changeFeed === row.changeFeed) return { catalogue, row };
      const listed = { ...row, changeFeed };
      await this.#rows.put(listed);
      return { catalogue, row: listed };
    } catch (error) {
      throw notApplied(error);
    }
  }

  async #observe(
    row: AttachmentRow,
    result: JsonObject,
    tool: string,
    { catchesUp }: { readonly catchesUp: boolean },
  ): Promise<{ row: AttachmentRow; revision: ObservedRevision | undefined; notices: string[] }> {
    const { revision, conflictDetection, evidence, notices } = observeRevision(row, result, tool, this.#options.now());
    const observed = {
      ...row,
      conflictDetection,
      evidence,
      ...(revision === undefined
        ? {}
        : { revision, refusedRevision: undefined, lastRead: catchesUp ? revision : row.lastRead }),
    };
    const kept = await this.#rows.put(observed).then(
      () => [],
      () => ["The revision of this result could not be stored, so the next call is not pinned to it."],
    );
    return { row: observed, revision, notices: [...notices, ...kept] };
  }
}

/**
 * After a refusal, what a call without a pin answers need not show what the refused one had missed: the feed is then asked
 * from before the refusal, until it has answered.
 */
function isBehind({ revision, lastRead }: AttachmentRow): boolean {
  return lastRead !== undefined && lastRead.marker !== revision?.marker;
}

function feedStateOf({ changeFeed }: AttachmentRow, { changeFeed: feed }: Catalogue): AttachmentRow["changeFeed"] {
  if (feed === undefined) return "unavailable";
  return changeFeed === "attributed" ? "attributed" : "offered";
}

function sourceOf({ invitation }: AttachmentRow, tool: string): TextSource {
  return { source: `${invitation.application}/${invitation.surfaceId}`, tool };
}

function assertTrusted({ trust }: AttachmentRow): void {
  if (isDeclared(trust)) return;
  throw new HumanPlusError(
    "trust_undeclared",
    "no trust is declared for this surface, so nothing is sent: attach with trust: TrustPolicy.allowing([...])",
  );
}

function assertAdmitted({ trust }: AttachmentRow, tool: string): void {
  const refusal = refusalOf(trust, tool);
  if (refusal !== undefined) throw new HumanPlusError("tool_refused", refusal);
}

/** What failed before the call was made says so, whatever became of the request that failed. */
function notApplied(error: unknown): unknown {
  if (!(error instanceof HumanPlusError) || error.outcome === "not_applied") return error;
  const { code, message, retryable, retryAfterMs, issues, surface } = error;
  const again = retryable || code === "relay_timeout" || code === "relay_failed";
  return new HumanPlusError(code, message, {
    outcome: "not_applied",
    retryable: again,
    retryAfterMs,
    issues,
    surface,
    cause: error,
  });
}
