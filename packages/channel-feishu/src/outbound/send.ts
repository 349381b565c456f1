import {
  ChannelError,
  encodePathSegment,
  getSinglePart,
  isChannelError,
  isRetryable,
  type Outbound,
  type Receipt,
  type SendOptions,
  sendParts,
} from "@signalbox/channel";
import { type FeishuAddress, idType } from "../address.ts";
import type { FeishuApi } from "../api.ts";
import { lookMessageUp } from "../history.ts";
import { limits } from "../limits.ts";
import { attach } from "../media.ts";
import type { Places } from "../places.ts";
import type { CardKit } from "./card-kit.ts";
import { addReaction, removeReactions } from "./reactions.ts";
import { type Rendered, renderCard, renderPart } from "./render.ts";

/** Sends, edits and reacts. All methods throw only `ChannelError`. */
export interface Sender {
  send(to: FeishuAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends a card and returns the id of its message. The same `uuid` returns the same message. */
  sendCard(to: FeishuAddress, content: string, options: PostOptions): Promise<string>;
  /** Replaces the card of a message. */
  changeCard(messageId: string, content: string, signal: AbortSignal): Promise<void>;
  edit(messageId: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove(messageId: string, signal: AbortSignal): Promise<void>;
  react(messageId: string, emoji: string, on: boolean, signal: AbortSignal): Promise<void>;
}

interface PostOptions {
  readonly replyTo: string | undefined;
  readonly uuid: string;
  readonly signal: AbortSignal;
}

interface Needs {
  readonly api: FeishuApi;
  readonly places: Places;
  readonly cards: CardKit;
  readonly appId: string;
}

function isRefusal({ code }: ChannelError): boolean {
  return code === "invalid" || code === "unsupported";
}

export function createSender({ api, places, cards, appId }: Needs): Sender {
  async function post(
    to: FeishuAddress,
    { msgType, content }: Rendered,
    { replyTo, uuid, signal }: PostOptions,
  ): Promise<string> {
    const data = { msg_type: msgType, content, uuid };
    const answer = await api.call({ what: "sending a message", write: true, signal }, (client) =>
      replyTo === undefined
        ? client.message.create({
            params: { receive_id_type: idType(to.id) },
            data: { ...data, receive_id: to.id },
          })
        : client.message.reply({
            path: { message_id: encodePathSegment(replyTo) },
            data: { ...data, ...(to.rootId === undefined ? {} : { reply_in_thread: true }) },
          }),
    );
    const messageId = answer.data?.message_id;
    if (messageId === undefined)
      throw new ChannelError("unknown_outcome", "Feishu: sent, but the response contains no message id");
    await places.sent(messageId, answer.data?.chat_id ?? to.id);
    return messageId;
  }

  /**
   * Sends an ordinary message if the message to reply to no longer exists. The same applies if the thread does not
   * accept the message.
   */
  async function reply(to: FeishuAddress, rendered: Rendered, options: PostOptions): Promise<string> {
    if (options.uuid.length > limits.uuidLength)
      throw new ChannelError("invalid", "Feishu: the idempotency key is too long");
    for (const replyTo of [options.replyTo, to.rootId]) {
      if (replyTo === undefined) continue;
      try {
        return await post(to, rendered, { ...options, replyTo });
      } catch (error) {
        const isThread = replyTo === to.rootId && options.replyTo === undefined;
        if (!isChannelError(error) || !(error.code === "not_found" || (isThread && isRefusal(error))))
          throw error;
      }
    }
    return post(to, rendered, { ...options, replyTo: undefined });
  }

  async function changeCard(messageId: string, content: string, signal: AbortSignal): Promise<void> {
    const path = { message_id: encodePathSegment(messageId) };
    try {
      await api.call({ what: "changing a card", write: true, signal }, (client) =>
        client.message.patch({ path, data: { content } }),
      );
    } catch (error) {
      // A message that shows a card entity is changed through that entity.
      const entity = !isRetryable(error) ? await cards.shownBy(messageId, signal) : undefined;
      if (entity === undefined) throw error;
      await entity.replace(content, signal);
    }
  }

  return {
    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key, replyTo }) => {
        const rendered = part.type === "media" ? await attach(api, part, options) : renderPart(part);
        return reply(to, rendered, { replyTo, uuid: key, signal: options.signal });
      }),

    sendCard: (to, content, options) => reply(to, { msgType: "interactive", content }, options),

    changeCard,

    async edit(messageId, message, signal) {
      const part = getSinglePart(message);
      const [before] = await lookMessageUp(api, messageId, signal);
      if (before?.["msg_type"] === "interactive") return changeCard(messageId, renderCard(part), signal);
      const { msgType, content } = renderPart(part);
      if (msgType === "interactive")
        throw new ChannelError("unsupported", "Feishu: a text cannot be edited into a card");
      await api.call({ what: "editing a message", write: true, signal }, (client) =>
        client.message.update({
          path: { message_id: encodePathSegment(messageId) },
          data: { msg_type: msgType, content },
        }),
      );
    },

    async remove(messageId, signal) {
      await api.call({ what: "taking a message back", write: true, signal }, (client) =>
        client.message.delete({ path: { message_id: encodePathSegment(messageId) } }),
      );
    },

    react: (messageId, emoji, on, signal) =>
      on
        ? addReaction(api, messageId, emoji, signal)
        : removeReactions({ api, appId }, messageId, emoji, signal),
  };
}
