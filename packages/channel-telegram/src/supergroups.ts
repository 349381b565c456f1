import { type ChannelState, type InboundEvent, isPayload, objectAt, type Payload } from "@signalbox/channel";
import { addressCodec, type TelegramAddress } from "./address.ts";

/**
 * Groups that have become supergroups. Telegram then assigns a new id to the chat and rejects the former one. The
 * conversation keeps its first id, and with it its session, permissions, schedules and pending messages.
 */
export interface Supergroups {
  /** Records that a group has a new id. */
  add(groupId: string, supergroupId: string): Promise<void>;
  /** Returns the address with the id that Telegram currently accepts. */
  toCurrent(address: TelegramAddress): Promise<TelegramAddress>;
  /** Stores the new id if the update is one of the two service messages that announce it. */
  learnFrom(update: Payload): Promise<void>;
  /** Returns the event with the first id of its conversation. */
  toFirst(event: InboundEvent): Promise<InboundEvent>;
}

/** @param botId part of the storage key, because each bot is in different groups */
export function createSupergroups(state: ChannelState, botId: () => string): Supergroups {
  const loaded = new Map<string, Promise<Map<string, string>>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Supergroup ids by group id. */
  function load(): Promise<Map<string, string>> {
    const key = `${botId()}/supergroups`;
    const loading = loaded.get(key) ?? state.get(key).then(readGroups);
    loaded.set(key, loading);
    loading.catch(() => loaded.delete(key));
    return loading;
  }

  async function store(groupId: string, supergroupId: string): Promise<void> {
    const groups = await load();
    if (groups.get(groupId) === supergroupId) return;
    const next = new Map(groups).set(groupId, supergroupId);
    await state.set(`${botId()}/supergroups`, Object.fromEntries(next));
    groups.set(groupId, supergroupId);
  }

  function add(groupId: string, supergroupId: string): Promise<void> {
    const result = last.then(() => store(groupId, supergroupId));
    last = result.catch(() => {});
    return result;
  }

  return {
    add,
    async toCurrent(address) {
      if (!address.chatId.startsWith("-")) return address;
      const chatId = (await load()).get(address.chatId);
      return chatId === undefined ? address : { ...address, chatId };
    },
    async learnFrom(update) {
      const message = objectAt(update, "message");
      const chatId = idIn(objectAt(message, "chat")["id"]);
      const supergroupId = idIn(message["migrate_to_chat_id"]);
      const groupId = idIn(message["migrate_from_chat_id"]);
      if (chatId === undefined) return;
      if (supergroupId !== undefined) await add(chatId, supergroupId);
      if (groupId !== undefined) await add(groupId, chatId);
    },
    async toFirst(event) {
      const { conversation } = event;
      if (!conversation.id.startsWith("-")) return event;
      for (const [groupId, supergroupId] of await load()) {
        if (supergroupId !== conversation.id) continue;
        return {
          ...event,
          conversation: { ...conversation, id: groupId, otherIds: [supergroupId] },
          address: addressCodec.encode({ ...addressCodec.decode(event.address), chatId: groupId }),
        };
      }
      return event;
    },
  };
}

function readGroups(saved: unknown): Map<string, string> {
  const entries = isPayload(saved) ? Object.entries(saved) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function idIn(value: unknown): string | undefined {
  return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined;
}
