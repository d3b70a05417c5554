/** Runs a task until it ends or is stopped, whichever comes first. What a stopped task still throws is dropped. */
export async function untilAborted(signal: AbortSignal, task: () => Promise<void>): Promise<void> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return;
  signal.addEventListener("abort", () => resolve(), { once: true });
  const ended = task().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  await Promise.race([ended, stopped]);
}
