import {
  type ChannelCache,
  type ConversationKind,
  isPayload,
  isRetryable,
  objectAt,
  textAt,
} from "@signalbox/channel";
import { type MessageKey, messageId } from "./address.ts";
import type { SlackApi } from "./api.ts";

/** Author of a message, in the form that streams require. */
export interface Author {
  readonly userId: string;
  readonly teamId: string;
}

const weekMs = 7 * 24 * 3_600_000;

/** Caches the types of conversations and the authors of messages. */
export interface Conversations {
  /** Stores the type from an event. */
  saw(channel: string, kind: ConversationKind): Promise<void>;
  /**
   * Returns the type from the cache or from Slack.
   *
   * @throws ChannelError if Slack cannot be reached
   */
  kind(channel: string, signal: AbortSignal): Promise<ConversationKind>;
  wrote(message: MessageKey, author: Author): Promise<void>;
  author(id: string): Promise<Author | undefined>;
}

/** @param botId part of the cache key */
export function createConversations(cache: ChannelCache, api: SlackApi, botId: () => string): Conversations {
  const key = (what: string, id: string) => `slack/${botId()}/${what}/${id}`;

  return {
    async saw(channel, kind) {
      await cache.set(key("channel", channel), kind, weekMs);
    },
    async kind(channel, signal) {
      if (channel.startsWith("D")) return "direct";
      const cached = await cache.get(key("channel", channel));
      if (cached === "group" || cached === "channel" || cached === "direct") return cached;
      try {
        const options = { what: "looking up a conversation", write: false, signal };
        const about = objectAt(await api.call("conversations.info", { channel }, options), "channel");
        const kind = about["is_im"] === true ? "direct" : about["is_mpim"] === true ? "group" : "channel";
        await cache.set(key("channel", channel), kind, weekMs);
        return kind;
      } catch (error) {
        if (!isRetryable(error)) return "channel";
        throw error;
      }
    },
    async wrote(message, { userId, teamId }) {
      await cache.set(key("author", messageId(message)), { userId, teamId }, weekMs);
    },
    async author(id) {
      const cached = await cache.get(key("author", id));
      const author = isPayload(cached) ? cached : {};
      const [userId, teamId] = [textAt(author, "userId"), textAt(author, "teamId")];
      return userId === undefined || teamId === undefined ? undefined : { userId, teamId };
    },
  };
}
