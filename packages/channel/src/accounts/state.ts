import type { ChannelState } from "../contract/definition.ts";
import type { Json } from "../contract/json.ts";

/** Where a host keeps the states of channels. */
export interface StateNotes {
  get(namespace: string, key: string): Promise<Json | undefined>;
  set(namespace: string, key: string, value: Json): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
}

/** Keys are the channel's own and begin with the id of a bot: they outlive a change of the account's name. */
export function channelState(notes: StateNotes, channel: string): ChannelState {
  const namespace = `channel/${channel}`;
  return {
    get: (key) => notes.get(namespace, key),
    set: (key, value) => notes.set(namespace, key, JSON.parse(JSON.stringify(value))),
    delete: async (key) => void (await notes.delete(namespace, key)),
  };
}
