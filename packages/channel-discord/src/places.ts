import {
  type ChannelContext,
  type Conversation,
  type ConversationKind,
  isPayload,
  type Payload,
  textAt,
  unlessRefused,
} from "@signalbox/channel";
import { idAt } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { limits } from "./limits.ts";

/** What an event does not say about the channel it happened in. */
export interface Places {
  /**
   * @param guildId where the event names one; a message without one is a direct one
   * @param signal ends a look-up, where one is needed
   */
  of(channelId: string, guildId: string | undefined, signal: AbortSignal): Promise<Conversation>;
  /** A place of which nothing is known but its id. */
  find(channelId: string, signal: AbortSignal): Promise<Conversation>;
  /** A payload describes a channel. */
  saw(channel: Payload): Promise<void>;
}

/** Source: Discord's page on channel types. */
const direct = 1;
const groupDirect = 3;
const threads: readonly unknown[] = [10, 11, 12];

export function createPlaces(context: Pick<ChannelContext<DiscordConfig>, "cache">, api: DiscordApi): Places {
  const { cache } = context;
  const keyOf = (channelId: string): string => `channel/${channelId}`;

  async function saw(channel: Payload): Promise<void> {
    const place = readPlace(channel);
    if (place !== undefined) await cache.set(keyOf(place.id), { ...place }, limits.dayMs);
  }

  async function find(channelId: string, signal: AbortSignal): Promise<Conversation> {
    const cached = await cache.get(keyOf(channelId));
    const known = isPayload(cached) ? fromCache(cached) : undefined;
    if (known !== undefined) return known;
    const path = `/channels/${channelId}` as const;
    const channel = await api.call({ what: "looking a channel up", method: "GET", path, signal });
    const place = isPayload(channel) ? readPlace(channel) : undefined;
    if (isPayload(channel)) await saw(channel);
    return place ?? { id: channelId, kind: "channel" };
  }

  return {
    saw,
    find,
    async of(channelId, guildId, signal) {
      if (guildId === undefined) return { id: channelId, kind: "direct" };
      // A channel that we may not see has commands all the same.
      const unseen = { id: channelId, kind: "channel" } as const;
      return { ...(await unlessRefused(find(channelId, signal), unseen)), guildId };
    },
  };
}

/** A channel as the API, the gateway or an interaction describes it; undefined for what is none. */
export function readPlace(channel: Payload): Conversation | undefined {
  const id = idAt(channel, "id");
  const { type } = channel;
  if (id === undefined || typeof type !== "number") return undefined;
  const guildId = idAt(channel, "guild_id");
  const parentId = threads.includes(type) ? idAt(channel, "parent_id") : undefined;
  const subject = textAt(channel, "name");
  return {
    id,
    kind: kindOf(type),
    ...(guildId === undefined ? {} : { guildId }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(subject === undefined ? {} : { subject }),
  };
}

/**
 * Where something happened, as far as its own payload says: the channel, and the server unless it is a direct one.
 * Undefined where that cannot be read: without its server a message would be taken for a direct one.
 */
export function whereIn(
  payload: Payload,
): { readonly channelId: string; readonly guildId: string | undefined } | undefined {
  const channelId = idAt(payload, "channel_id");
  const guildId = idAt(payload, "guild_id");
  const isInGuild = payload["guild_id"] !== undefined && payload["guild_id"] !== null;
  return channelId === undefined || isInGuild !== (guildId !== undefined)
    ? undefined
    : { channelId, guildId };
}

function kindOf(type: number): ConversationKind {
  if (type === direct) return "direct";
  return type === groupDirect ? "group" : "channel";
}

function fromCache(saved: Payload): Conversation | undefined {
  const id = textAt(saved, "id");
  const kind = textAt(saved, "kind");
  if (id === undefined || (kind !== "direct" && kind !== "group" && kind !== "channel")) return undefined;
  const [guildId, parentId, subject] = ["guildId", "parentId", "subject"].map((key) => textAt(saved, key));
  return {
    id,
    kind,
    ...(guildId === undefined ? {} : { guildId }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(subject === undefined ? {} : { subject }),
  };
}
