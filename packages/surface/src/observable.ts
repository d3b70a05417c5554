import { runApart } from "./run-apart.ts";

/** State that a user interface can follow, as `useSyncExternalStore` and its likes take it. */
export interface Observable<T> {
  /** Calls back after every change. Returns how to stop. */
  subscribe(listener: () => void): () => void;
  /** The state now; the same object until something changes. */
  getSnapshot(): T;
}

export interface ObservableSource<T> extends Observable<T> {
  changed(): void;
}

/** @param build makes the snapshot; called once for each change that somebody looks at */
export function createObservable<T extends object>(build: () => T): ObservableSource<T> {
  const listeners = new Set<() => void>();
  let snapshot: T | undefined;
  return {
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    getSnapshot: () => (snapshot ??= build()),
    changed() {
      snapshot = undefined;
      for (const listener of listeners) runApart(listener);
    },
  };
}
