import { type CloseOptions, createAgUiServer } from "./ag-ui-server.ts";
import type { AgentCapabilities } from "./capabilities.ts";
import type { AgUiHandlerOptions } from "./handler-options.ts";

/** Answers requests of AG-UI clients of every version. */
export interface AgUiHandler {
  (request: Request): Promise<Response>;
  /** What the agent says of itself. */
  readonly capabilities: AgentCapabilities;
  /**
   * Ends every stream with one `RUN_ERROR`, and answers 503 from then on.
   *
   * @throws HumanPlusError `invalid_argument`
   */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * A handler of requests as `@ag-ui/client` makes them: `Request` in, `Response` out, on any server. Whatever a run does, its
 * stream begins with `RUN_STARTED`, is in order, and has exactly one terminal event.
 *
 * @throws HumanPlusError `invalid_argument` that names the option
 */
export function createAgUiHandler<A, P = string>(options: AgUiHandlerOptions<A, P>): AgUiHandler {
  const { answer, close, capabilities } = createAgUiServer(options);
  return Object.assign((request: Request) => answer(request), {
    capabilities,
    close: (closing: CloseOptions = {}) => close(closing),
  });
}
