// Stands in tests where `@human-plus/adapter-ag-ui/handler` is imported: the same, and each stream of a handler is recorded.
import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";
import {
  type AgUiHandler,
  type AgUiHandlerOptions,
  createAgUiHandler as createUnrecorded,
} from "@human-plus/adapter-ag-ui/handler";
import { end, type Recording, record } from "./recordings.ts";

// biome-ignore lint/performance/noReExportAll: it stands for the whole entry, whatever that exports
export * from "@human-plus/adapter-ag-ui/handler";

type Bytes = Uint8Array<ArrayBuffer>;

export function createAgUiHandler<A, P = string>(options: AgUiHandlerOptions<A, P>): AgUiHandler {
  const handler = createUnrecorded(options);
  return Object.assign(
    async (request: Request) => {
      const asked: Uint8Array[] = [];
      if (request.body !== null) {
        const body = tapped(request.body as ReadableStream<Bytes>, (chunk) => void asked.push(chunk));
        Object.defineProperty(request, "body", { value: body });
      }
      const response = await handler(request);
      if (response.status !== 200 || response.body === null) return response;
      return recorded(response, JSON.parse(new TextDecoder().decode(Buffer.concat(asked))) as AgUiRunInput);
    },
    { capabilities: handler.capabilities, close: handler.close },
  );
}

function recorded(response: Response, input: AgUiRunInput): Response {
  const { status, headers } = response;
  const chunks: Uint8Array[] = [];
  const body = tapped(
    response.body as ReadableStream<Bytes>,
    (chunk) => void chunks.push(chunk),
    (state) => end(recording, state),
  );
  const recording = record({
    input,
    contentType: headers.get("content-type") ?? "",
    chunks,
    state: "open",
    readRest: async () => {
      if (body.locked) return;
      for await (const _ of body);
    },
  });
  return new Response(body, { status, headers });
}

/** The same stream, no faster and no slower than its reader. */
function tapped(
  stream: ReadableStream<Bytes>,
  onChunk: (chunk: Bytes) => void,
  onEnd: (state: Exclude<Recording["state"], "open">) => void = () => undefined,
): ReadableStream<Bytes> {
  const reader = stream.getReader();
  return new ReadableStream<Bytes>(
    {
      start(controller) {
        // A stream may fail while nobody reads.
        reader.closed.catch((error) => {
          onEnd("broken");
          controller.error(error);
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          onEnd("ended");
          return controller.close();
        }
        onChunk(value);
        controller.enqueue(value);
      },
      async cancel(reason) {
        onEnd("left");
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
