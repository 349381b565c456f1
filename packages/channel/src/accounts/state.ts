import type { ChannelState } from "../contract/definition.ts";
import type { Json } from "../contract/json.ts";

/** A key-value store of the host. */
interface StateStore {
  get(namespace: string, key: string): Promise<Json | undefined>;
  set(namespace: string, key: string, value: Json): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
}

/** Creates the state of a channel in the namespace `channel/<id>` of a store. */
export function createChannelState(store: StateStore, channel: string): ChannelState {
  const namespace = `channel/${channel}`;
  return {
    get: (key) => store.get(namespace, key),
    set: (key, value) => store.set(namespace, key, JSON.parse(JSON.stringify(value))),
    delete: async (key) => void (await store.delete(namespace, key)),
  };
}
