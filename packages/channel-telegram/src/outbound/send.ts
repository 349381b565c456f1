import {
  isChannelError,
  type Outbound,
  type PollResult,
  type Receipt,
  type SendOptions,
  sendParts,
  theOnePart,
} from "@signalbox/channel";
import type { InlineKeyboardMarkup, ReactionTypeEmoji } from "grammy/types";
import { messageIdOf, messageIn, type TelegramAddress } from "../address.ts";
import type { TelegramApi } from "../api.ts";
import { sendAttachment, type Target } from "../media.ts";
import type { Buttons } from "./buttons.ts";
import type { FormattedText } from "./formatted.ts";
import { sendPoll } from "./poll.ts";
import { type Rendered, type RenderSettings, renderPart } from "./render.ts";
import type { RichBlock } from "./rich.ts";

/** What goes out: messages, changes, reactions. Every method throws ChannelError and nothing else. */
export interface Sender {
  send(to: TelegramAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends a text; resolves with its id. */
  sendText(
    to: TelegramAddress,
    rendered: Rendered,
    options: { readonly replyTo: string | undefined; readonly signal: AbortSignal },
  ): Promise<string>;
  /** Puts a text, and its buttons or none, in the place of a message's. */
  changeText(to: TelegramAddress, messageId: string, rendered: Rendered, signal: AbortSignal): Promise<void>;
  edit(to: TelegramAddress, messageId: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove(to: TelegramAddress, messageId: string, signal: AbortSignal): Promise<void>;
  closePoll(to: TelegramAddress, messageId: string, signal: AbortSignal): Promise<PollResult>;
  react(
    to: TelegramAddress,
    messageId: string,
    emoji: string | undefined,
    signal: AbortSignal,
  ): Promise<void>;
}

export function createSender(api: TelegramApi, buttons: () => Buttons, settings: RenderSettings): Sender {
  return {
    sendText: (to, rendered, options) => sendText(api, to, rendered, options),

    changeText: (to, messageId, rendered, signal) => changeText(api, to, messageId, rendered, signal),

    send: (to, message, options) =>
      sendParts(message, options, async ({ part, replyTo }) => {
        if (part.type === "poll") {
          const sent = await sendPoll(api, targetOf(to, replyTo), part, options.signal);
          return messageIdOf(to.chatId, sent.message_id);
        }
        if (part.type !== "media") {
          return sendText(api, to, await renderPart(part, buttons(), settings), {
            replyTo,
            signal: options.signal,
          });
        }
        const sent = await sendAttachment(api, targetOf(to, replyTo), part, options);
        return messageIdOf(to.chatId, sent.message_id);
      }),

    async edit(to, messageId, message, signal) {
      const rendered = await renderPart(theOnePart(message), buttons(), settings);
      await changeText(api, to, messageId, rendered, signal);
    },

    async remove(to, messageId, signal) {
      const place = { chat_id: to.chatId, message_id: messageIn(to, messageId) };
      await api.call({ what: "taking a message back", write: true, signal }, (raw) =>
        raw.deleteMessage(place),
      );
    },

    async closePoll(to, messageId, signal) {
      const message = messageIn(to, messageId);
      const { options } = await api.call({ what: "ending a poll", write: true, signal }, (raw) =>
        raw.stopPoll({ chat_id: to.chatId, message_id: message }),
      );
      return { options: options.map(({ text, voter_count }) => ({ text, votes: voter_count })) };
    },

    async react(to, messageId, emoji, signal) {
      const place = { chat_id: to.chatId, message_id: messageIn(to, messageId) };
      // The type lists the emoji of one version of the API; which of them a chat takes, Telegram says.
      const reaction =
        emoji === undefined ? [] : [{ type: "emoji", emoji: emoji as ReactionTypeEmoji["emoji"] } as const];
      await api.call({ what: "reacting", write: true, signal }, (raw) =>
        raw.setMessageReaction({ ...place, reaction }),
      );
    },
  };
}

async function sendText(
  api: TelegramApi,
  to: TelegramAddress,
  { text, entities, rich, keyboard }: Rendered,
  { replyTo, signal }: { readonly replyTo: string | undefined; readonly signal: AbortSignal },
): Promise<string> {
  const call = { what: "sending a message", write: true, signal };
  const target = { ...targetOf(to, replyTo), ...withKeyboard(keyboard) };
  const asText = () =>
    api.call(call, (raw) => raw.sendMessage({ ...target, ...textOnly({ text, entities }) }));
  const asBlocks = (blocks: readonly RichBlock[]) =>
    api.call(call, (raw) => raw.sendRichMessage({ ...target, rich_message: { blocks: [...blocks] } }));
  const sent = rich === undefined ? await asText() : await asBlocks(rich).catch(whereRefused(asText));
  return messageIdOf(to.chatId, sent.message_id);
}

async function changeText(
  api: TelegramApi,
  to: TelegramAddress,
  messageId: string,
  { text, entities, rich, keyboard }: Rendered,
  signal: AbortSignal,
): Promise<void> {
  const place = {
    chat_id: to.chatId,
    message_id: messageIn(to, messageId),
    ...withKeyboard(keyboard),
  };
  const change = async (content: ReturnType<typeof textOnly> | { rich_message: Rich }) => {
    await api
      .call({ what: "changing a message", write: true, signal }, (raw) =>
        raw.editMessageText({ ...place, ...content }),
      )
      .catch(unlessUnchanged);
  };
  const asText = () => change(textOnly({ text, entities }));
  if (rich === undefined) await asText();
  else await change({ rich_message: { blocks: [...rich] } }).catch(whereRefused(asText));
}

/** Without previews of links, which Telegram fetches before anybody taps. */
function textOnly({ text, entities }: FormattedText) {
  return { text, entities: [...entities], link_preview_options: { is_disabled: true } };
}

function targetOf(to: TelegramAddress, replyTo: string | undefined): Target {
  return {
    chat_id: to.chatId,
    ...(to.topicId === undefined ? {} : { message_thread_id: Number(to.topicId) }),
    // An answer to a message that is gone becomes a plain message: better said than lost.
    ...(replyTo === undefined
      ? {}
      : { reply_parameters: { message_id: messageIn(to, replyTo), allow_sending_without_reply: true } }),
  };
}

interface Rich {
  readonly blocks: RichBlock[];
}

function withKeyboard(keyboard: InlineKeyboardMarkup | undefined) {
  return keyboard === undefined ? {} : { reply_markup: keyboard };
}

/** Goes the other way where a rich message was refused as such: a server that is older answers as for no method. */
function whereRefused<T>(otherwise: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    const isRefused =
      isChannelError(error) &&
      (["invalid", "unsupported", "too_large"].includes(error.code) || error.platformCode === "404");
    if (!isRefused) throw error;
    return otherwise();
  };
}

/** What is there already is what was wanted. */
function unlessUnchanged(error: unknown): void {
  if (!isChannelError(error) || !error.message.includes("message is not modified")) throw error;
}
