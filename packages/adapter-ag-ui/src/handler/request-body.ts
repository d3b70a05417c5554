import { concat } from "../bounded-json.ts";
import { AgUiRefusal, badInput, overLimit } from "./refusal.ts";

/** How much of a body that is too large is read and thrown away, so that the client gets to hear of it. */
const MAX_DISCARDED_BYTES = 262_144;

/**
 * The JSON of a POST.
 *
 * @throws AgUiRefusal 405, 415, 400 or 413
 */
export async function readJsonBody(request: Request, maxBytes: number, signal: AbortSignal): Promise<unknown> {
  if (request.method !== "POST") throw new AgUiRefusal(405, "Method not allowed", { headers: { allow: "POST" } });
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? ""))
    throw new AgUiRefusal(415, "Content-Type must be application/json");
  if (request.body === null) throw badInput("Request body is required");
  const bytes = await readAtMost(request.body, maxBytes, signal);
  if (bytes.length === 0) throw badInput("Request body is required");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw badInput("Invalid JSON request body", error);
  }
}

async function readAtMost(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size <= maxBytes) chunks.push(value);
      else chunks.length = 0;
      if (size > maxBytes + MAX_DISCARDED_BYTES) {
        cancel();
        break;
      }
    }
  } catch (error) {
    throw badInput("Invalid JSON request body", error); // the body broke off: nobody may be left to read this
  } finally {
    signal.removeEventListener("abort", cancel);
  }
  if (signal.aborted) throw new AgUiRefusal(408, "The request took too long");
  if (size > maxBytes) throw overLimit("Request", "maxRequestBytes");
  return concat(chunks);
}
