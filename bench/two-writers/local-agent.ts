import { type JsonObject, methods, parseFrame, parseRevisionReading, parseRpcError } from "@human-plus/core/protocol";
import type { Surface } from "@human-plus/surface";

/** An agent in the same process: frames, and no wire. */
export interface BoardAgent {
  call(name: string, args: JsonObject, revision?: string): Promise<{ revision: string | undefined; isStale: boolean }>;
}

export function joinBoard(surface: Surface, participantId: string): BoardAgent {
  const waiting = new Map<unknown, (answer: { revision: string | undefined; isStale: boolean }) => void>();
  let count = 0;
  const channel = surface.open((text) => {
    const { id, result, error } = parseFrame(JSON.parse(text));
    const isStale = error !== undefined && parseRpcError(error).conflict === "stale";
    if (error !== undefined && !isStale) throw new Error(`the surface answered ${JSON.stringify(error)}`);
    waiting.get(id)?.({ revision: result && parseRevisionReading(result).revision, isStale });
    waiting.delete(id);
  });
  return {
    call(name, args, revision) {
      const id = `${participantId} ${++count}`;
      const _meta = { "human-plus/participant": { id: participantId }, ...(revision !== undefined && { revision }) };
      const params = { name, arguments: args, _meta };
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        channel.receive(JSON.stringify({ jsonrpc: "2.0", id, method: methods.callTool, params }));
      });
    },
  };
}
