import type { ChannelContext } from "@signalbox/channel";
import { type FeishuApi, segment } from "./api.ts";
import type { FeishuConfig } from "./config.ts";
import { isRaw, textAt } from "./raw.ts";

/** Where a message was written. */
export interface Place {
  readonly chatId: string;
  readonly kind: "direct" | "group";
}

/** Who wrote a message, as far as it matters: this app or somebody else. */
interface MessageFacts {
  readonly chatId: string | undefined;
  readonly own: boolean;
}

const mostChats = 1000;
const weekMs = 7 * 24 * 3_600_000;

/** Remembers chats and messages that went by, and asks for those that did not. */
export interface Places {
  /** A chat that an event named with its kind. */
  saw(chatId: string, kind: Place["kind"]): Promise<void>;
  /** The chats that went by since the start. */
  recent(): readonly Place[];
  /** A message that this account sent. */
  sent(messageId: string, chatId: string): Promise<void>;
  /** Undefined where the message cannot be seen. @throws ChannelError where it cannot be asked for now */
  message(messageId: string, signal: AbortSignal): Promise<MessageFacts | undefined>;
  /** `group` where nobody knows: that is the one with fewer rights. */
  kind(chatId: string, signal: AbortSignal): Promise<Place["kind"]>;
}

export function createPlaces(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "cache">,
  api: FeishuApi,
): Places {
  const { config, cache } = context;
  const key = (kind: string, id: string) => `feishu/${config.appId}/${kind}/${id}`;
  /** Kinds of chats never change: no need to write the same again with every message. */
  const seen = new Map<string, Place["kind"]>();

  return {
    async saw(chatId, kind) {
      if (seen.has(chatId)) return;
      const oldest = seen.size >= mostChats ? seen.keys().next().value : undefined;
      if (oldest !== undefined) seen.delete(oldest);
      seen.set(chatId, kind);
      await cache.set(key("chat", chatId), { kind }, weekMs);
    },
    recent: () => [...seen].map(([chatId, kind]) => ({ chatId, kind })),
    async sent(messageId, chatId) {
      await cache.set(key("message", messageId), { chatId, own: true }, weekMs);
    },
    async message(messageId, signal) {
      const cached = await cache.get(key("message", messageId));
      if (isRaw(cached)) return { chatId: textAt(cached, "chatId"), own: cached["own"] === true };
      const answer = await api.call({ what: "looking a message up", write: false, signal }, (client) =>
        client.im.v1.message.get({ path: { message_id: segment(messageId) } }),
      );
      const found = answer.data?.items?.[0];
      if (found === undefined) return undefined;
      const chatId = found.chat_id;
      const facts = { chatId, own: found.sender?.id === config.appId };
      await cache.set(key("message", messageId), { own: facts.own, ...(chatId ? { chatId } : {}) }, weekMs);
      return facts;
    },
    async kind(chatId, signal) {
      const cached = await cache.get(key("chat", chatId));
      if (isRaw(cached)) return cached["kind"] === "direct" ? "direct" : "group";
      try {
        const answer = await api.call({ what: "looking a chat up", write: false, signal }, (client) =>
          client.im.v1.chat.get({ path: { chat_id: segment(chatId) } }),
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
