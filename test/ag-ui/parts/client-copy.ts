// Run as a process of its own, with the copy of the client that the environment names in place of `@ag-ui/client`: as a user
// has it who installed that version. Prints what a host got.
import { registerHooks } from "node:module";

const copy = process.env["AG_UI_CLIENT"] ?? "@ag-ui/client";
registerHooks({
  resolve: (specifier, context, next) => next(specifier === "@ag-ui/client" ? copy : specifier, context),
});

const { HttpAgent } = await import("@ag-ui/client");
const { SurfaceMiddleware } = await import("@human-plus/adapter-ag-ui/middleware");
const { startLiveCanvas } = await import("../../parts/live-canvas.ts");
const { calls, says, startScriptedAgent } = await import("./scripted-agent.ts");

await using canvas = await startLiveCanvas();
using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
await using scripted = await startScriptedAgent((_, turn) =>
  turn === 1 ? [...says("m1", "Looking"), ...calls("c1", "surface__canvas_read")] : says("m2", "Done"),
);
const agent = new HttpAgent({ url: scripted.url, threadId: "t" });
agent.use(middleware);
agent.addMessage({ id: "u1", role: "user", content: "Tidy up" });
const events: unknown[] = [];
await agent.runAgent({ runId: "r" }, { onEvent: ({ event }) => void events.push(structuredClone(event)) });
const { default: manifest } = await import(`${copy}/package.json`, { with: { type: "json" } });
const history = scripted.inputs.at(-1)?.messages.map(({ role }) => role);
process.stdout.write(
  JSON.stringify({ version: manifest.version, events, history, isMiddleware: middleware.constructor.name }),
);
