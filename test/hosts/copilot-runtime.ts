import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AbstractAgent, BaseEvent, Message } from "@ag-ui/client";
import { CopilotRuntime, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { judgeAnswer } from "./judge-answer.ts";

/** What a front end says in one run. */
export interface CopilotRequest {
  threadId: string;
  messages: Message[];
  resume?: unknown[];
  forwardedProps?: Record<string, unknown>;
  signal?: AbortSignal;
}

/** The real runtime with one agent, on a real socket. */
export interface RunningCopilot extends AsyncDisposable {
  /** Runs the agent as a front end does, and has clients of every version judge the answer. @returns the events that came over the wire */
  run(request: CopilotRequest): Promise<BaseEvent[]>;
}

export async function startCopilot(agent: AbstractAgent): Promise<RunningCopilot> {
  const runtime = new CopilotRuntime({ agents: { default: agent }, runner: new InMemoryAgentRunner() });
  const server = createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/copilotkit`;
  return {
    async run({ signal, ...said }) {
      const input = { runId: crypto.randomUUID(), state: {}, tools: [], context: [], forwardedProps: {}, ...said };
      const response = await fetch(`${url}/agent/default/run`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify(input),
        signal: signal ?? null,
      });
      return await judgeAnswer(response, input);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
