import {
  type ChannelContext,
  encodePathSegment,
  fitText,
  isPayload,
  type MediaRef,
  objectAt,
  type Payload,
  textAt,
  toJson,
} from "@signalbox/channel";
import type { FeishuApi } from "./api.ts";
import type { FeishuConfig } from "./config.ts";
import { lookMessageUp, mediaOf, wordsOf } from "./history.ts";
import { CARD } from "./inbound/content.ts";
import { forwardedText } from "./inbound/forwards.ts";
import type { People } from "./people.ts";

/** The chat of a message. */
export interface Place {
  readonly chatId: string;
  readonly kind: "direct" | "group";
}

/** An earlier message. */
export interface EarlierMessage {
  readonly chatId: string | undefined;
  /** True if this app sent the message. */
  readonly own: boolean;
  /** Absent if the content was not looked up. */
  readonly content?: EarlierContent | undefined;
}

interface EarlierContent {
  /** The author. Absent if it is this app. */
  readonly senderId?: string | undefined;
  readonly text: string;
  readonly media: readonly MediaRef[];
}

const mostChats = 1000;
/** Maximum length of a stored quote, in UTF-16 code units. */
const mostQuoted = 4000;
const weekMs = 7 * 24 * 3_600_000;

/** Caches chats and messages from events, and looks up others. */
export interface Places {
  /** Caches the type of a chat from an event. */
  saw(chatId: string, kind: Place["kind"]): Promise<void>;
  /** Caches a message that this account sent. */
  sent(messageId: string, chatId: string): Promise<void>;
  /**
   * Returns `undefined` if the bot cannot access the message.
   *
   * @throws ChannelError if the message cannot be looked up now
   */
  message(messageId: string, signal: AbortSignal): Promise<EarlierMessage | undefined>;
  /**
   * Returns the content of a merged forward.
   *
   * @throws ChannelError if it cannot be read
   */
  forwarded(messageId: string, signal: AbortSignal): Promise<string>;
  /** Returns the type of a chat. Unknown chats are treated as `group`, which has fewer rights. */
  kind(chatId: string, signal: AbortSignal): Promise<Place["kind"]>;
}

export function createPlaces(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "cache">,
  api: FeishuApi,
  people: Pick<People, "name">,
): Places {
  const { config, cache } = context;
  const key = (kind: string, id: string) => `feishu/${config.appId}/${kind}/${id}`;
  /** The type of a chat never changes, so it is stored only once. */
  const seen = new Map<string, Place["kind"]>();

  function forwarded(messageId: string, items: readonly Payload[], signal: AbortSignal): Promise<string> {
    return forwardedText(messageId, items, async (userId) => (await people.name(userId, signal))?.name);
  }

  return {
    forwarded: async (messageId, signal) =>
      forwarded(messageId, await lookMessageUp(api, messageId, signal), signal),
    async saw(chatId, kind) {
      if (seen.has(chatId)) return;
      const oldest = seen.size >= mostChats ? seen.keys().next().value : undefined;
      if (oldest !== undefined) seen.delete(oldest);
      seen.set(chatId, kind);
      await cache.set(key("chat", chatId), { kind }, weekMs);
    },
    async sent(messageId, chatId) {
      await cache.set(key("message", messageId), { chatId, own: true }, weekMs);
    },
    async message(messageId, signal) {
      const cached = await cache.get(key("message", messageId));
      const known = isPayload(cached) ? readCached(cached) : undefined;
      if (known?.content !== undefined) return known;
      try {
        const [item, ...parts] = await lookMessageUp(api, messageId, signal);
        if (item === undefined) return known;
        const isForward = textAt(item, "msg_type") === "merge_forward";
        const text = isForward ? await forwarded(messageId, parts, signal) : wordsOf(item);
        const message = readMessage(item, text, config.appId);
        await cache.set(key("message", messageId), toJson(message) ?? null, weekMs);
        return message;
      } catch (error) {
        if (known === undefined) throw error;
        return known;
      }
    },
    async kind(chatId, signal) {
      const known = seen.get(chatId);
      if (known !== undefined) return known;
      const cached = await cache.get(key("chat", chatId));
      if (isPayload(cached)) return cached["kind"] === "direct" ? "direct" : "group";
      try {
        const answer = await api.call({ what: "looking a chat up", write: false, signal }, (client) =>
          client.chat.get({ path: { chat_id: encodePathSegment(chatId) } }),
        );
        const kind = answer.data?.chat_mode === "p2p" ? "direct" : "group";
        await cache.set(key("chat", chatId), { kind }, weekMs);
        return kind;
      } catch {
        return "group";
      }
    },
  };
}

function readMessage(item: Payload, words: string, appId: string): EarlierMessage {
  const chatId = textAt(item, "chat_id");
  const senderId = textAt(objectAt(item, "sender"), "id");
  const own = senderId === appId;
  // A card entity of this app is returned without its text.
  const isUnknown = own && words === CARD;
  const text = isUnknown ? "" : fitText(words, { max: mostQuoted, unit: "utf16" }).toWellFormed();
  return { chatId, own, content: { senderId: own ? undefined : senderId, text, media: mediaOf(item) } };
}

function readCached(cached: Payload): EarlierMessage {
  const content = cached["content"];
  const known = { chatId: textAt(cached, "chatId"), own: cached["own"] === true };
  if (!isPayload(content)) return known;
  const { media } = content;
  return {
    ...known,
    content: {
      senderId: textAt(content, "senderId"),
      text: textAt(content, "text") ?? "",
      // Stored by this channel.
      media: Array.isArray(media) ? (media as MediaRef[]) : [],
    },
  };
}
