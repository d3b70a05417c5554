/** Runs what somebody else listens with. What it throws is its own bug: it keeps nothing from anybody. */
export function runApart(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
