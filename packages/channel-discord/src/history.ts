import { type HistoryMessage, isPayload, objectAt, type Payload, textAt } from "@signalbox/channel";
import { type DiscordAddress, snowflakeAt, timeOf } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import { wordsOf } from "./inbound/content.ts";
import { personOf } from "./inbound/messages.ts";
import { limits } from "./limits.ts";

interface Span {
  /** Milliseconds since the epoch, or a message's id. With it the oldest since then are listed, else the newest. */
  readonly after?: number | string;
  readonly before?: number;
  /** Default: as many as one request gives. */
  readonly limit?: number;
  readonly signal: AbortSignal;
}

/** Messages of a channel, oldest first. */
export async function listMessages(
  api: DiscordApi,
  channelId: string,
  { after, before, limit = limits.pageSize, signal }: Span,
): Promise<readonly Payload[]> {
  const listed = await api.call({
    what: "reading a channel",
    method: "GET",
    path: `/channels/${channelId}/messages`,
    query: {
      limit: String(Math.min(Math.max(limit, 1), limits.pageSize)),
      ...(after === undefined ? {} : { after: typeof after === "number" ? snowflakeAt(after) : after }),
      ...(before === undefined ? {} : { before: snowflakeAt(before) }),
    },
    signal,
  });
  return (Array.isArray(listed) ? listed.filter(isPayload) : []).toReversed();
}

export async function readHistory(
  api: DiscordApi,
  { channelId }: DiscordAddress,
  span: Span,
  botId: string,
): Promise<readonly HistoryMessage[]> {
  const messages = await listMessages(api, channelId, span);
  return messages.flatMap((message): HistoryMessage[] => {
    const messageId = textAt(message, "id");
    const timestamp = messageId === undefined ? undefined : timeOf(messageId);
    if (messageId === undefined || timestamp === undefined) return [];
    const isBot = textAt(message, "webhook_id") !== undefined;
    const sender = personOf(objectAt(message, "author"), objectAt(message, "member"), { botId, isBot });
    return [{ messageId, sender, text: wordsOf(message, { botId, roleId: undefined }), timestamp }];
  });
}
