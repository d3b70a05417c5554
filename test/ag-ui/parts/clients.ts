import * as latest from "@ag-ui/client";
import type { AgUiInterrupt, AgUiMessage, AgUiRunInput } from "@human-plus/adapter-ag-ui";
import * as client57 from "ag-ui-client-0-0-57";
import * as client59 from "ag-ui-client-0-0-59";

export type ClientVersion = "0.0.57" | "0.0.59" | "1.0.0";

/** What one client made of one run. */
export interface ClientOutcome {
  readonly version: ClientVersion;
  /** What `runAgent` rejected with. It resolves on `RUN_ERROR` too: see `runError`. */
  readonly rejection: string | undefined;
  /** Everything it wrote to the console. */
  readonly warnings: readonly string[];
  /** Events as its subscribers saw them. */
  readonly events: readonly ClientEvent[];
  readonly runError: { readonly message: string; readonly code: string | undefined } | undefined;
  readonly messages: readonly AgUiMessage[];
  readonly state: unknown;
  readonly pendingInterrupts: readonly AgUiInterrupt[];
}

export interface ClientEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** How a client gives a run up. */
export interface RunningAgent {
  /** Closes the agent's own request. */
  abortRun(): void;
  /** Lets go of the run, and of everything in it. */
  detachActiveRun(): Promise<void>;
}

/** As much of `@ag-ui/client` as all versions have under the same names. Their types are nominal, so this is by structure. */
interface ClientModule {
  HttpAgent: new (config: {
    url: string;
    headers?: Record<string, string>;
    fetch?: typeof fetch;
    threadId?: string;
    initialMessages?: readonly AgUiMessage[];
    initialState?: unknown;
  }) => {
    messages: AgUiMessage[];
    state: unknown;
    pendingInterrupts: AgUiInterrupt[];
    runAgent(parameters: object, subscriber: object): Promise<unknown>;
    use(...middlewares: unknown[]): unknown;
    clone(): InstanceType<ClientModule["HttpAgent"]>;
  } & RunningAgent;
  compactEvents(events: unknown[]): unknown[];
}

export const clients: ReadonlyMap<ClientVersion, ClientModule> = new Map([
  ["0.0.57", client57 as unknown as ClientModule],
  ["0.0.59", client59 as unknown as ClientModule],
  ["1.0.0", latest as unknown as ClientModule],
]);

export interface ClientRun {
  readonly version: ClientVersion;
  readonly url: string;
  readonly input: AgUiRunInput;
  readonly headers?: Record<string, string> | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Interrupts of the run before, as a page would have kept them. */
  readonly pendingInterrupts?: readonly AgUiInterrupt[] | undefined;
  /** What stands between the agent and the client, the outermost first. */
  readonly middlewares?: readonly unknown[] | undefined;
  /** Sees each event as it comes. */
  readonly onEvent?: ((event: ClientEvent, agent: RunningAgent) => void) | undefined;
}

/** The console is one for all, so clients take turns. */
let turn: Promise<unknown> = Promise.resolve();

/** Runs one input through the `HttpAgent` of one version, as a page does. */
export function runClient(run: ClientRun): Promise<ClientOutcome> {
  const outcome = turn.then(() => runNow(run));
  turn = outcome.catch(() => undefined);
  return outcome;
}

async function runNow(run: ClientRun): Promise<ClientOutcome> {
  const { version, url, input, headers, fetch, pendingInterrupts, middlewares = [], onEvent } = run;
  const { HttpAgent } = moduleOf(version);
  const agent = new HttpAgent({
    url,
    ...(headers === undefined ? {} : { headers }),
    ...(fetch === undefined ? {} : { fetch }),
    threadId: input.threadId,
    initialMessages: structuredClone(input.messages),
    initialState: structuredClone(input.state ?? {}),
  });
  if (pendingInterrupts !== undefined) agent.pendingInterrupts = [...structuredClone(pendingInterrupts)];
  agent.use(...middlewares);
  const events: ClientEvent[] = [];
  const warnings: string[] = [];
  const restore = listenToConsole(warnings);
  const { runId, tools, context, forwardedProps, resume } = input;
  let rejection: string | undefined;
  try {
    await agent.runAgent(
      { runId, tools: tools ?? [], context: context ?? [], forwardedProps: forwardedProps ?? {}, resume },
      {
        onEvent({ event }: { event: ClientEvent }) {
          events.push(structuredClone(event));
          onEvent?.(event, agent);
        },
      },
    );
  } catch (error) {
    rejection = error instanceof Error ? error.message : String(error);
  } finally {
    restore();
  }
  const failed = events.find(({ type }) => type === "RUN_ERROR");
  return {
    version,
    rejection,
    warnings,
    events,
    runError: failed && { message: String(failed["message"]), code: failed["code"] as string | undefined },
    messages: agent.messages,
    state: agent.state,
    pendingInterrupts: agent.pendingInterrupts,
  };
}

/** What the client's compaction of histories says of events, if it throws: hosts run it over what they stored. */
export function compactionFault(version: ClientVersion, events: readonly unknown[]): string | undefined {
  try {
    moduleOf(version).compactEvents(structuredClone([...events]));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function moduleOf(version: ClientVersion): ClientModule {
  const module = clients.get(version);
  if (module === undefined) throw new Error(`there is no client ${version}`);
  return module;
}

function listenToConsole(lines: string[]): () => void {
  const { warn, error } = console;
  const listen = (...args: unknown[]) => void lines.push(args.map(String).join(" "));
  console.warn = listen;
  console.error = listen;
  return () => Object.assign(console, { warn, error });
}
