import type { RunAgentInput } from "@ag-ui/client";
import type { SurfaceProjection } from "@human-plus/adapter-ag-ui";
import { type AgUiHandler, createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import { HumanPlusError } from "@human-plus/core";
import { eachEvent } from "./each-event.ts";
import type { CallTool } from "./next-move.ts";
import { createThreadSessions } from "./thread-sessions.ts";
import { TidyAgent } from "./tidy-agent.ts";

export interface EndpointOptions {
  /** Lets the agent join the canvas. It holds the token, and stays on this side. */
  shareLink: string;
  /** The only page that may ask. */
  origin: string;
  /** Time between telling of a move and making it. */
  beforeMove: (move: CallTool) => Promise<void>;
  /** Hears what went wrong without failing a run. */
  onError: (error: unknown) => void;
}

/** The agent behind HTTP. */
export interface Endpoint extends AsyncDisposable {
  readonly handler: AgUiHandler;
}

/** What of the canvas may be shown in a chat: handles and titles of cards, and why a call was refused. Nothing else leaves. */
const projection: SurfaceProjection = {
  arguments: ({ args: { handle } }) => (handle === undefined ? undefined : { handle }),
  change: ({ handle, kind, actor, label }) => ({ handle, kind, actor, ...(label === undefined ? {} : { label }) }),
};

const priority = "background" as const;

/** Puts the agent, the surface and the endpoint together. */
export function createEndpoint({ shareLink, origin, beforeMove, onError }: EndpointOptions): Endpoint {
  const sessions = createThreadSessions({ shareLink });
  const surface = new SurfaceMiddleware({
    name: "canvas",
    surface: ({ threadId }) => sessions.of(threadId),
    feed: { projection },
    // A person decides in the browser, where the canvas is: its news of that is the only answer that counts.
    proposals: {},
    // What a person changed since the last turn is not even asked for.
    protect: true,
    handlesOf: (_tool, { handle }) => (typeof handle === "string" ? [handle] : []),
    maxIterations: 128,
    onError({ stage, error }) {
      // To be refused is what happens among people, and the agent is told of it.
      const isRefusal = stage === "call" && error instanceof HumanPlusError && error.outcome === "not_applied";
      if (!isRefusal) onError(error);
    },
  });
  const agent = new TidyAgent({
    toolPrefix: "canvas__",
    async beforeMove(threadId, move) {
      const isCall = move.type === "call";
      const activity = isCall ? { action: move.step, target: move.target } : { action: "Done", priority };
      // Who cannot be told is not there, and the run goes on.
      await (await sessions.of(threadId)).announce(activity).catch(() => undefined);
      if (isCall) await beforeMove(move);
    },
  });
  const handler = createAgUiHandler<true, RunAgentInput>({
    authorize: ({ request }) => request.headers.get("origin") === origin && true,
    input: { project: ({ input }) => input as RunAgentInput, takesResume: true },
    run: ({ input, signal }) => eachEvent(surface.run(input, agent), signal),
    limits: { maxInputMessages: 1_024, maxRequestBytes: 1_048_576, maxInputTextBytes: 1_048_576 },
    onProblem: ({ message, cause }) => onError(cause ?? message),
  });
  return {
    handler,
    async [Symbol.asyncDispose]() {
      await handler.close({ graceMs: 500 });
      surface.close();
      await sessions[Symbol.asyncDispose]();
    },
  };
}
