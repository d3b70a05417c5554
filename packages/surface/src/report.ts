/**
 * Tells of an error that nobody handles, as the platform does. Where there is no `reportError` (Node), the console is
 * told: a tool that fails must not end the process.
 */
export function report(error: unknown, during: string): void {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  // biome-ignore lint/suspicious/noConsole: nobody asked to hear of errors, and nobody must miss them
  else console.error(error, during);
}
