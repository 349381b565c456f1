import {
  type ChannelContext,
  ChannelError,
  isChannelError,
  isLasting,
  type Outbound,
  pathSegment,
  type Receipt,
  type SendOptions,
  sendParts,
} from "@signalbox/channel";
import { type FeishuAddress, idType } from "../address.ts";
import type { FeishuApi } from "../api.ts";
import type { FeishuConfig } from "../config.ts";
import { emojiType } from "../emoji.ts";
import { lookMessageUp } from "../history.ts";
import { limits } from "../limits.ts";
import { attach } from "../media.ts";
import type { Places } from "../places.ts";
import type { CardKit } from "./card-kit.ts";
import { type Rendered, renderCard, renderPart } from "./render.ts";

/** What goes out: messages, edits, reactions. Every method throws ChannelError and nothing else. */
export interface Sender {
  send(to: FeishuAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends a card; the same `uuid` again gives the same message. Resolves with its id. */
  sendCard(to: FeishuAddress, content: string, options: CardOptions): Promise<string>;
  /** The card that a message shows becomes this one. */
  changeCard(messageId: string, content: string, signal: AbortSignal): Promise<void>;
  edit(messageId: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove(messageId: string, signal: AbortSignal): Promise<void>;
  react(messageId: string, emoji: string, on: boolean, signal: AbortSignal): Promise<void>;
}

interface CardOptions {
  readonly replyTo: string | undefined;
  readonly uuid: string;
  readonly signal: AbortSignal;
}

export function createSender(
  context: Pick<ChannelContext<FeishuConfig>, "config">,
  api: FeishuApi,
  places: Places,
  cards: CardKit,
): Sender {
  async function sendPart(
    to: FeishuAddress,
    rendered: Rendered,
    answers: string | undefined,
    uuid: string,
    signal: AbortSignal,
  ): Promise<string> {
    const call = { what: "sending a message", write: true, signal };
    const data = { msg_type: rendered.msgType, content: rendered.content, uuid };
    const answer = await api.call(call, (client) =>
      answers === undefined
        ? client.message.create({
            params: { receive_id_type: idType(to.id) },
            data: { ...data, receive_id: to.id },
          })
        : client.message.reply({
            path: { message_id: pathSegment(answers) },
            data: { ...data, ...(to.rootId === undefined ? {} : { reply_in_thread: true }) },
          }),
    );
    const messageId = answer.data?.message_id;
    if (messageId === undefined)
      throw new ChannelError("unknown_outcome", "Feishu: sent, but without an id in the answer");
    await places.sent(messageId, answer.data?.chat_id ?? to.id);
    return messageId;
  }

  /** An answer to a message that is gone becomes a plain message: better said than lost. */
  async function sendAnswer(
    to: FeishuAddress,
    rendered: Rendered,
    replyTo: string | undefined,
    uuid: string,
    signal: AbortSignal,
  ): Promise<string> {
    if (uuid.length > limits.uuidLength)
      throw new ChannelError("invalid", "Feishu: the idempotency key is too long");
    for (const candidate of [replyTo, to.rootId]) {
      if (candidate === undefined) continue;
      try {
        return await sendPart(to, rendered, candidate, uuid, signal);
      } catch (error) {
        if (!isChannelError(error) || error.code !== "not_found") throw error;
      }
    }
    return await sendPart(to, rendered, undefined, uuid, signal);
  }

  async function changeCard(messageId: string, content: string, signal: AbortSignal): Promise<void> {
    const path = { message_id: pathSegment(messageId) };
    try {
      await api.call({ what: "changing a card", write: true, signal }, (client) =>
        client.message.patch({ path, data: { content } }),
      );
    } catch (error) {
      // A message that shows a card entity changes with that.
      const entity = isLasting(error) ? await cards.shownBy(messageId, signal) : undefined;
      if (entity === undefined) throw error;
      await entity.replace(content, signal);
    }
  }

  async function ownReactions(
    messageId: string,
    type: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const answer = await api.call({ what: "looking reactions up", write: false, signal }, (client) =>
      client.messageReaction.list({
        path: { message_id: pathSegment(messageId) },
        params: { reaction_type: type },
      }),
    );
    const own = answer.data?.items?.filter(
      (one) => one.operator?.operator_id === context.config.appId && one.reaction_type?.emoji_type === type,
    );
    return own?.flatMap((one) => one.reaction_id ?? []) ?? [];
  }

  return {
    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key, replyTo }) => {
        const rendered = part.type === "media" ? await attach(api, part, options) : renderPart(part);
        return sendAnswer(to, rendered, replyTo, key, options.signal);
      }),

    sendCard: (to, content, { replyTo, uuid, signal }) =>
      sendAnswer(to, { msgType: "interactive", content }, replyTo, uuid, signal),

    changeCard,

    async edit(messageId, message, signal) {
      const [part, ...more] = message.parts;
      if (part === undefined || more.length > 0) {
        throw new ChannelError("invalid", "Feishu: an edit replaces one message by one part");
      }
      const [before] = await lookMessageUp(api, messageId, signal);
      const isCard = before?.["msg_type"] === "interactive";
      const rendered = renderPart(part);
      const path = { message_id: pathSegment(messageId) };
      const call = { what: "editing a message", write: true, signal };
      if (isCard) return changeCard(messageId, renderCard(part), signal);
      if (rendered.msgType === "interactive") {
        throw new ChannelError("unsupported", "Feishu: a text cannot be edited into a card");
      }
      const data = { msg_type: rendered.msgType, content: rendered.content };
      await api.call(call, (client) => client.message.update({ path, data }));
    },

    async remove(messageId, signal) {
      await api.call({ what: "taking a message back", write: true, signal }, (client) =>
        client.message.delete({ path: { message_id: pathSegment(messageId) } }),
      );
    },

    async react(messageId, emoji, on, signal) {
      const type = emojiType(emoji);
      if (type === undefined)
        throw new ChannelError("unsupported", `Feishu has no reaction ${emoji.slice(0, 20)}`);
      const path = { message_id: pathSegment(messageId) };
      if (on) {
        await api.call({ what: "reacting", write: true, signal }, (client) =>
          client.messageReaction.create({ path, data: { reaction_type: { emoji_type: type } } }),
        );
        return;
      }
      // A reaction that was tried twice, since its first answer was lost, may be there twice.
      for (const reactionId of await ownReactions(messageId, type, signal)) {
        await api.call({ what: "taking a reaction back", write: true, signal }, (client) =>
          client.messageReaction.delete({ path: { ...path, reaction_id: pathSegment(reactionId) } }),
        );
      }
    },
  };
}
