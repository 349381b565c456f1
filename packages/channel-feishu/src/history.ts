import {
  ChannelError,
  encodePathSegment,
  type HistoryMessage,
  isPayload,
  type MediaRef,
  objectAt,
  type Payload,
  textAt,
  timeAt,
} from "@signalbox/channel";
import type { FeishuAddress } from "./address.ts";
import type { FeishuApi } from "./api.ts";
import { type Content, readContent } from "./inbound/content.ts";
import { readMentions, writeMentions } from "./inbound/mentions.ts";
import { listed } from "./listed.ts";

/** Maximum page size of Feishu's lists. */
export const pageSize = 50;

/** Requests cards as they were sent. By default, Feishu replaces the content of newer cards with a note. */
const WITH_CARDS = { card_msg_content_type: "user_card_content" } as const;

/** A time span in milliseconds since the epoch. Feishu uses seconds, so the span is widened to full seconds. */
interface Span {
  readonly start?: number;
  readonly end?: number;
  /** Maximum number of messages per page. Default: the maximum page size. */
  readonly size?: number;
  /** Maximum number of pages. Default: 1. */
  readonly pages?: number;
}

/** Returns messages from a chat, newest first. */
export async function listMessages(
  api: FeishuApi,
  chatId: string,
  { start, end, size = pageSize, pages = 1 }: Span,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const items: Payload[] = [];
  const found = listed<unknown>(pages, (next) =>
    api.call({ what: "reading a chat", write: false, signal }, (client) =>
      client.message.list({
        params: {
          container_id_type: "chat",
          container_id: chatId,
          sort_type: "ByCreateTimeDesc",
          page_size: size,
          ...WITH_CARDS,
          ...(start === undefined ? {} : { start_time: String(Math.floor(start / 1000)) }),
          ...(end === undefined ? {} : { end_time: String(Math.ceil(end / 1000)) }),
          ...next,
        },
      }),
    ),
  );
  for await (const item of found) if (isPayload(item)) items.push(item);
  return items;
}

/**
 * Returns a message, followed by its parts if it is a merged forward.
 *
 * @throws ChannelError
 */
export async function lookMessageUp(
  api: FeishuApi,
  messageId: string,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const answer = await api.call({ what: "looking a message up", write: false, signal }, (client) =>
    client.message.get({ path: { message_id: encodePathSegment(messageId) }, params: WITH_CARDS }),
  );
  return (answer.data?.items ?? []).filter(isPayload);
}

/** The bot's two ids. */
interface Self {
  readonly appId: string;
  readonly openId: string | undefined;
}

/** @throws ChannelError `unsupported` for the address of a person */
export async function readHistory(
  api: FeishuApi,
  to: FeishuAddress,
  options: { readonly limit: number; readonly before?: number; readonly signal: AbortSignal },
  self: Self,
): Promise<readonly HistoryMessage[]> {
  if (!to.id.startsWith("oc_"))
    throw new ChannelError("unsupported", "Feishu: only chats have a history, not addresses of people");
  const { limit, before } = options;
  // With an end time, Feishu also lists messages from the rest of that second.
  const span = before === undefined ? { size: Math.min(Math.max(limit, 1), pageSize) } : { end: before };
  const items = await listMessages(api, to.id, span, options.signal);
  return items
    .filter(
      (item) =>
        item["deleted"] !== true && (before === undefined || (timeAt(item, "create_time") ?? 0) < before),
    )
    .slice(0, limit)
    .flatMap((item) => readItem(item, self))
    .toReversed();
}

function readItem(item: Payload, self: Self): readonly HistoryMessage[] {
  const messageId = textAt(item, "message_id");
  const sender = objectAt(item, "sender");
  const id = textAt(sender, "id");
  const timestamp = timeAt(item, "create_time");
  if (messageId === undefined || id === undefined || timestamp === undefined) return [];
  const isSelf = id === self.appId;
  const isBot = sender["sender_type"] !== "user";
  const text = wordsOf(item, self.openId);
  return [{ messageId, timestamp, text, sender: { id: isSelf ? (self.openId ?? id) : id, isBot, isSelf } }];
}

/** Returns the text of a message from the API. */
export function wordsOf(item: Payload, selfId?: string): string {
  return writeMentions(contentOf(item)?.text ?? "", readMentions(item, selfId));
}

/** Returns the attachments of a message from the API. */
export function mediaOf(item: Payload): readonly MediaRef[] {
  return contentOf(item)?.media ?? [];
}

function contentOf(item: Payload): Content | undefined {
  const content = textAt(objectAt(item, "body"), "content") ?? "";
  return readContent(textAt(item, "msg_type") ?? "", content, textAt(item, "message_id") ?? "");
}
