import {
  type ChannelContext,
  type Conversation,
  type ConversationKind,
  catchRefusal,
  isPayload,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { idAt } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { limits } from "./limits.ts";

/** Looks up and caches channels. */
export interface Conversations {
  /**
   * @param guildId the server of the event; messages without a server are direct
   * @param signal aborts the lookup
   */
  of(channelId: string, guildId: string | undefined, signal: AbortSignal): Promise<Conversation>;
  /** Looks up a channel by its id. */
  find(channelId: string, signal: AbortSignal): Promise<Conversation>;
  /**
   * Returns the parent channel of a public thread, even if the thread was deleted after it was cached. Ignores private
   * threads, because more people may be able to read their parent channel.
   */
  parentOf(channelId: string): Promise<string | undefined>;
  /** Caches a channel from a payload. */
  saw(channel: Payload): Promise<void>;
}

/** Source: "Channel Types". */
const direct = 1;
const groupDirect = 3;
const privateThread = 12;
const threads: readonly unknown[] = [10, 11, privateThread];

export function createConversations(
  context: Pick<ChannelContext<DiscordConfig>, "cache">,
  api: DiscordApi,
): Conversations {
  const { cache } = context;
  const keyOf = (channelId: string): string => `channel/${channelId}`;

  async function saw(channel: Payload): Promise<void> {
    const place = readConversation(channel);
    const isPrivate = channel["type"] === privateThread;
    if (place !== undefined) await cache.set(keyOf(place.id), { ...place, isPrivate }, limits.dayMs);
  }

  async function findCached(
    channelId: string,
  ): Promise<(Conversation & { readonly isPrivate: boolean }) | undefined> {
    const cached = await cache.get(keyOf(channelId));
    const known = isPayload(cached) ? parseCached(cached) : undefined;
    return known && { ...known, isPrivate: isPayload(cached) && cached["isPrivate"] === true };
  }

  async function find(channelId: string, signal: AbortSignal): Promise<Conversation> {
    const known = await findCached(channelId);
    if (known !== undefined) {
      const { isPrivate: _, ...conversation } = known;
      return conversation;
    }
    const path = `/channels/${channelId}` as const;
    const channel = await api.call({ what: "looking up a channel", method: "GET", path, signal });
    const place = isPayload(channel) ? readConversation(channel) : undefined;
    if (isPayload(channel)) await saw(channel);
    return place ?? { id: channelId, kind: "channel" };
  }

  return {
    saw,
    find,
    async parentOf(channelId) {
      const known = await findCached(channelId);
      return known?.isPrivate === false ? known.parentId : undefined;
    },
    async of(channelId, guildId, signal) {
      if (guildId === undefined) return { id: channelId, kind: "direct" };
      // Commands can be used in channels that the bot cannot access.
      const unseen = { id: channelId, kind: "channel" } as const;
      return { ...(await catchRefusal(find(channelId, signal), unseen)), guildId };
    },
  };
}

/** Reads a channel object from the API, the gateway or an interaction. Returns `undefined` if it is malformed. */
export function readConversation(channel: Payload): Conversation | undefined {
  const id = idAt(channel, "id");
  const { type } = channel;
  if (id === undefined || typeof type !== "number") return undefined;
  const guildId = idAt(channel, "guild_id");
  const parentId = threads.includes(type) ? idAt(channel, "parent_id") : undefined;
  const subject = textAt(channel, "name");
  return {
    id,
    kind: getKind(type),
    guildId,
    parentId,
    subject,
  };
}

/**
 * Reads the channel and the server of a payload. Returns `undefined` if they are malformed, because a message without
 * its server would be treated as direct.
 */
export function readLocation(
  payload: Payload,
): { readonly channelId: string; readonly guildId: string | undefined } | undefined {
  const channelId = idAt(payload, "channel_id");
  const guildId = idAt(payload, "guild_id");
  const isInGuild = payload["guild_id"] !== undefined && payload["guild_id"] !== null;
  return channelId === undefined || isInGuild !== (guildId !== undefined)
    ? undefined
    : { channelId, guildId };
}

function getKind(type: number): ConversationKind {
  if (type === direct) return "direct";
  return type === groupDirect ? "group" : "channel";
}

function parseCached(saved: Payload): Conversation | undefined {
  const id = textAt(saved, "id");
  const kind = textAt(saved, "kind");
  if (id === undefined || (kind !== "direct" && kind !== "group" && kind !== "channel")) return undefined;
  const [guildId, parentId, subject] = ["guildId", "parentId", "subject"].map((key) => textAt(saved, key));
  return {
    id,
    kind,
    guildId,
    parentId,
    subject,
  };
}
