/** Calls what a host handed in and gives nothing back. However it fails, at once or later, only `onFailed` hears of it. */
export function attempt(call: () => unknown, onFailed: (error: unknown) => void = () => undefined): void {
  try {
    const given = call();
    if (given instanceof Promise) given.catch(onFailed);
  } catch (error) {
    onFailed(error);
  }
}
