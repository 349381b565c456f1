import type { KvStore } from "@signalbox/store/types";

/** Creates a key-value store in memory that converts values to JSON and back, as a database does. */
export function memoryKeyValues(): KvStore {
  const kept = new Map<string, Map<string, string>>();
  const of = (namespace: string) => {
    const values = kept.get(namespace) ?? new Map<string, string>();
    kept.set(namespace, values);
    return values;
  };
  return {
    async get(namespace, key) {
      const value = of(namespace).get(key);
      return value === undefined ? undefined : JSON.parse(value);
    },
    set: async (namespace, key, value) => void of(namespace).set(key, JSON.stringify(value)),
    delete: async (namespace, key) => of(namespace).delete(key),
    list: async (namespace) => [...of(namespace)].map(([key, value]) => ({ key, value: JSON.parse(value) })),
  };
}
