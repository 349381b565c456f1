import type { ChannelState } from "@signalbox/channel";
import type { KvStore } from "@signalbox/store";

/** Keys are the channel's own and begin with the id of a bot: they outlive a change of the account's name. */
export function channelState(kv: KvStore, channel: string): ChannelState {
  const namespace = `channel/${channel}`;
  return {
    get: (key) => kv.get(namespace, key),
    set: (key, value) => kv.set(namespace, key, JSON.parse(JSON.stringify(value))),
    delete: async (key) => void (await kv.delete(namespace, key)),
  };
}
