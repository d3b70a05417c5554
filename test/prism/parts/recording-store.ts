import { createMemoryToolEffectStore, type EffectRecord, type EffectStore } from "../host/effect-store.ts";

/** A store of effects that gives back what was begun, in order. */
export interface RecordingStore extends EffectStore {
  records(): EffectRecord[];
}

export function createRecordingStore(): RecordingStore {
  const store = createMemoryToolEffectStore();
  const keys: string[] = [];
  return {
    ...store,
    begin(asked) {
      keys.push(asked.key);
      return store.begin(asked);
    },
    records: () => keys.flatMap((key) => store.get(key) ?? []),
  };
}
