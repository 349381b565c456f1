import {
  getSinglePart,
  isChannelError,
  type Outbound,
  type PollResult,
  type Receipt,
  type SendOptions,
  sendParts,
} from "@signalbox/channel";
import type { InlineKeyboardMarkup, MessageEntity, ReactionTypeEmoji } from "grammy/types";
import { formatMessageId, parseMessageId, type TelegramAddress } from "../address.ts";
import type { TelegramApi } from "../api.ts";
import { ChatMigratedError, isTopicRefusal } from "../errors.ts";
import { sendAttachment, type Target } from "../media.ts";
import type { Supergroups } from "../supergroups.ts";
import type { Buttons } from "./buttons.ts";
import type { FormattedText } from "./formatted.ts";
import type { MessageIds } from "./message-ids.ts";
import { sendPoll } from "./poll.ts";
import { type Rendered, type RenderSettings, renderPart } from "./render.ts";
import type { RichBlock } from "./rich.ts";

/** Sends and changes messages. All methods throw only `ChannelError`. */
export interface Sender {
  send(to: TelegramAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends a text message and returns its id. */
  sendText(
    to: TelegramAddress,
    rendered: Rendered,
    options: { readonly replyTo: string | undefined; readonly signal: AbortSignal },
  ): Promise<string>;
  /** Replaces the text and the buttons of a message. */
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

interface SenderContext {
  readonly api: TelegramApi;
  readonly supergroups: Supergroups;
  readonly ids: MessageIds;
}

export function createSender(
  context: SenderContext,
  buttons: () => Buttons,
  settings: RenderSettings,
): Sender {
  const { api } = context;
  return {
    sendText: (to, rendered, options) => sendText(context, to, rendered, options),

    changeText: (to, messageId, rendered, signal) => changeText(api, to, messageId, rendered, signal),

    send: (to, message, options) =>
      sendParts(message, options, ({ part, key, replyTo }) =>
        withLookup(context.ids, key, to, async () => {
          const { signal } = options;
          if (part.type !== "media" && part.type !== "poll")
            return sendText(context, to, await renderPart(part, buttons(), settings), { replyTo, signal });
          return sendTo(context, to, replyTo, (target) =>
            part.type === "poll"
              ? sendPoll(api, target, part, signal)
              : sendAttachment(api, target, part, options),
          );
        }),
      ),

    async edit(to, messageId, message, signal) {
      const rendered = await renderPart(getSinglePart(message), buttons(), settings);
      await changeText(api, to, messageId, rendered, signal);
    },

    async remove(to, messageId, signal) {
      const place = { chat_id: to.chatId, message_id: parseMessageId(to, messageId) };
      await api.call({ what: "deleting a message", write: false, signal }, (raw) => raw.deleteMessage(place));
    },

    async closePoll(to, messageId, signal) {
      const message = parseMessageId(to, messageId);
      const { options } = await api.call({ what: "closing a poll", write: true, signal }, (raw) =>
        raw.stopPoll({ chat_id: to.chatId, message_id: message }),
      );
      return { options: options.map(({ text, voter_count }) => ({ text, votes: voter_count })) };
    },

    async react(to, messageId, emoji, signal) {
      const place = { chat_id: to.chatId, message_id: parseMessageId(to, messageId) };
      // The type lists the emoji of one API version. Telegram decides which ones a chat allows.
      const reaction =
        emoji === undefined ? [] : [{ type: "emoji", emoji: emoji as ReactionTypeEmoji["emoji"] } as const];
      await api.call({ what: "reacting", write: false, signal }, (raw) =>
        raw.setMessageReaction({ ...place, reaction }),
      );
    },
  };
}

/** Sends a part so that it can be looked up if its outcome is unknown. */
async function withLookup(
  ids: MessageIds,
  key: string,
  { chatId }: TelegramAddress,
  send: () => Promise<string>,
): Promise<string> {
  await ids.ready(chatId);
  ids.begin(key, chatId);
  try {
    const messageId = await send();
    ids.end(key);
    return messageId;
  } catch (error) {
    const isUnknown = isChannelError(error) && error.code === "unknown_outcome";
    if (!isUnknown) ids.end(key);
    throw error;
  }
}

async function sendText(
  context: SenderContext,
  to: TelegramAddress,
  { text, entities, rich, keyboard }: Rendered,
  { replyTo, signal }: { readonly replyTo: string | undefined; readonly signal: AbortSignal },
): Promise<string> {
  const { api } = context;
  const call = { what: "sending a message", write: true, signal };
  return sendTo(context, to, replyTo, (destination) => {
    const target = { ...destination, ...createKeyboardFields(keyboard) };
    const asText = () =>
      api.call(call, (raw) => raw.sendMessage({ ...target, ...createTextFields({ text, entities }) }));
    const asBlocks = (blocks: readonly RichBlock[]) =>
      api.call(call, (raw) => raw.sendRichMessage({ ...target, rich_message: { blocks: [...blocks] } }));
    return rich === undefined ? asText() : asBlocks(rich).catch(ifRichRejected(asText));
  });
}

/**
 * Sends to the topic. If the topic does not accept messages, sends to the chat: first as a reply, then as a plain
 * message. If the chat has become a supergroup, sends to the supergroup.
 */
async function sendTo(
  { supergroups, ids }: SenderContext,
  to: TelegramAddress,
  replyTo: string | undefined,
  send: (target: Target) => Promise<{ readonly message_id: number }>,
): Promise<string> {
  const target = createTarget(to, replyTo);
  const { message_thread_id: topicId, ...outside } = target;
  const others = topicId === undefined ? [] : [outside, { chat_id: outside.chat_id }];
  let sending = send(target);
  for (const other of others) {
    sending = sending.catch((error: unknown) => {
      if (!isTopicRefusal(error)) throw error;
      return send(other);
    });
  }
  const received = (chatId: string, { message_id: id }: { readonly message_id: number }): string => {
    ids.add(chatId, id);
    return formatMessageId(chatId, id);
  };
  try {
    return received(to.chatId, await sending);
  } catch (error) {
    if (!(error instanceof ChatMigratedError)) throw error;
    await supergroups.add(to.chatId, error.chatId);
    // Messages of the group have no ids in the supergroup, so this cannot be a reply.
    return received(error.chatId, await send({ chat_id: error.chatId }));
  }
}

async function changeText(
  api: TelegramApi,
  to: TelegramAddress,
  messageId: string,
  rendered: Rendered,
  signal: AbortSignal,
): Promise<void> {
  const place = {
    chat_id: to.chatId,
    message_id: parseMessageId(to, messageId),
    ...createKeyboardFields(rendered.keyboard),
  };
  const change = async (content: ContentFields) => {
    await api
      .call({ what: "editing a message", write: false, signal }, (raw) =>
        raw.editMessageText({ ...place, ...content }),
      )
      .catch(ignoreUnchanged);
  };
  const asText = () => change(createTextFields(rendered));
  if (rendered.rich === undefined) await asText();
  else await change(createContentFields(rendered)).catch(ifRichRejected(asText));
}

interface TextFields {
  readonly text: string;
  readonly entities: MessageEntity[];
  readonly link_preview_options: { readonly is_disabled: true };
}

type ContentFields = TextFields | { readonly rich_message: Rich };

/** The fields of an edit that replaces the content of a message. */
function createContentFields(rendered: Omit<Rendered, "keyboard">): ContentFields {
  return rendered.rich === undefined
    ? createTextFields(rendered)
    : { rich_message: { blocks: [...rendered.rich] } };
}

/** Lists the contents that a text message can have, because rich content may have been replaced with plain text. */
export function listContentFields(rendered: Omit<Rendered, "keyboard">): readonly ContentFields[] {
  const text = createTextFields(rendered);
  return rendered.rich === undefined ? [text] : [createContentFields(rendered), text];
}

/** Link previews are disabled, because Telegram would fetch the page before anyone taps the link. */
function createTextFields({ text, entities }: FormattedText): TextFields {
  return { text, entities: [...entities], link_preview_options: { is_disabled: true } };
}

function createTarget(to: TelegramAddress, replyTo: string | undefined): Target {
  return {
    chat_id: to.chatId,
    message_thread_id: to.topicId === undefined ? undefined : Number(to.topicId),
    // If the quoted message no longer exists, Telegram sends a plain message instead of failing.
    reply_parameters:
      replyTo === undefined
        ? undefined
        : { message_id: parseMessageId(to, replyTo), allow_sending_without_reply: true },
  };
}

interface Rich {
  readonly blocks: RichBlock[];
}

function createKeyboardFields(keyboard: InlineKeyboardMarkup | undefined) {
  return keyboard === undefined ? {} : { reply_markup: keyboard };
}

/**
 * Falls back if Telegram rejects a rich message. Older Bot API servers respond with 404, as they do for any unknown
 * method.
 */
function ifRichRejected<T>(otherwise: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    const isRefused =
      isChannelError(error) &&
      (["invalid", "unsupported", "too_large"].includes(error.code) || error.platformCode === "404");
    if (!isRefused) throw error;
    return otherwise();
  };
}

/** Treats an edit that changes nothing as success. */
function ignoreUnchanged(error: unknown): void {
  if (!isChannelError(error) || !error.message.includes("message is not modified")) throw error;
}
