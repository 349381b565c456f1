import type { ObjectStore } from "@signalbox/store/types";

/** An object store in memory. */
export function createMemoryObjects(
  now: () => number,
): ObjectStore & { readonly keys: () => readonly string[] } {
  const objects = new Map<string, { readonly bytes: Uint8Array; readonly changedAt: number }>();
  return {
    keys: () => [...objects.keys()].sort(),
    async put(key, bytes) {
      objects.set(key, { bytes: bytes.slice(), changedAt: now() });
    },
    async open(key) {
      const object = objects.get(key);
      return object && new Blob([object.bytes.slice()]).stream();
    },
    async list(prefix) {
      return [...objects]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { bytes, changedAt }]) => ({ key, size: bytes.byteLength, changedAt }))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
    async remove(keys) {
      for (const key of keys) objects.delete(key);
    },
  };
}
