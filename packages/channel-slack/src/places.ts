import {
  type ChannelCache,
  type ConversationKind,
  isLasting,
  isPayload,
  objectAt,
  textAt,
} from "@signalbox/channel";
import { type MessageKey, messageId } from "./address.ts";
import type { SlackApi } from "./api.ts";

/** Who wrote a message, as streams want it. */
export interface Author {
  readonly userId: string;
  readonly teamId: string;
}

const weekMs = 7 * 24 * 3_600_000;

/** Remembers conversations and the authors of messages, as far as they went by. */
export interface Places {
  /** A conversation that an event named with its kind. */
  saw(channel: string, kind: ConversationKind): Promise<void>;
  /** Asked for where it is not known. @throws ChannelError where it cannot be asked for now */
  kind(channel: string, signal: AbortSignal): Promise<ConversationKind>;
  wrote(message: MessageKey, author: Author): Promise<void>;
  author(id: string): Promise<Author | undefined>;
}

/** @param botId the bot's own id, which what is remembered belongs to */
export function createPlaces(cache: ChannelCache, api: SlackApi, botId: () => string): Places {
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
        const options = { what: "looking a conversation up", write: false, signal };
        const about = objectAt(await api.call("conversations.info", { channel }, options), "channel");
        const kind = about["is_im"] === true ? "direct" : about["is_mpim"] === true ? "group" : "channel";
        await cache.set(key("channel", channel), kind, weekMs);
        return kind;
      } catch (error) {
        if (isLasting(error)) return "channel";
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
