import { type AttachmentStore, MemoryAttachmentStore } from "@human-plus/core";

/** A store of a program's own, in which reading can be made to go wrong while the program runs. */
export interface TroubledStore extends AttachmentStore {
  /** What every reading gives from now on, in place of the row. */
  trouble(reading: AttachmentStore["get"]): void;
}

export function createTroubledStore(): TroubledStore {
  const memory = new MemoryAttachmentStore();
  let get: AttachmentStore["get"] = (id) => memory.get(id);
  return {
    get: (id) => get(id),
    put: (row, expectedGeneration) => memory.put(row, expectedGeneration),
    lock: (id, task, options) => memory.lock(id, task, options),
    delete: (id) => memory.delete(id),
    trouble(reading) {
      get = reading;
    },
  };
}
