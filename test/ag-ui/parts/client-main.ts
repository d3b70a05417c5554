// Run as a process of its own: the `HttpAgent`s of every version, each with one run at the URL. Nobody here handles what they do
// not, so an unhandled rejection ends the process with an error. Says each event in a line, and at last how each run went.
import type { AgUiMessage } from "@human-plus/adapter-ag-ui";
import { clients } from "./clients.ts";

const [, , url = "", stopAfter = ""] = process.argv;
const initialMessages: AgUiMessage[] = [{ id: "u1", role: "user", content: "go" }];

await Promise.all(
  [...clients].map(async ([version, { HttpAgent }]) => {
    const agent = new HttpAgent({ url, threadId: "t", initialMessages });
    const say = (line: object) => console.log(JSON.stringify({ version, ...line }));
    const rejection = await agent
      .runAgent(
        { runId: "r" },
        {
          onEvent({ event: { type, code, message } }: { event: Record<"type" | "code" | "message", unknown> }) {
            say({ type, code, message });
            if (type === stopAfter) agent.abortRun();
          },
        },
      )
      .then(
        () => undefined,
        (error: Error) => error.message,
      );
    say({ type: "settled", rejection });
  }),
);
