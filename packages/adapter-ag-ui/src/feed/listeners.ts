/** Those who hear of something. One that throws hurts nobody else: its error surfaces as an uncaught one. */
export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Gives back what ends the listening. */
  add(listener: (value: T) => void): () => void {
    const own = (value: T) => listener(value);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
