import { type HistoryMessage, isPayload, objectAt, type Payload, textAt } from "@signalbox/channel";
import { type DiscordAddress, getSnowflakeTime, snowflakeAt } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import { getText } from "./inbound/content.ts";
import { createSender } from "./inbound/messages.ts";
import { limits } from "./limits.ts";

interface Span {
  /**
   * Milliseconds since the epoch, or a message id. With `after`, the page contains the oldest messages after it,
   * otherwise the newest ones.
   */
  readonly after?: number | string;
  readonly before?: number;
  /** Default: the page size. */
  readonly limit?: number;
  readonly signal: AbortSignal;
}

/** Returns messages from a channel, oldest first. */
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
    const timestamp = messageId === undefined ? undefined : getSnowflakeTime(messageId);
    if (messageId === undefined || timestamp === undefined) return [];
    const isBot = textAt(message, "webhook_id") !== undefined;
    const sender = createSender(objectAt(message, "author"), objectAt(message, "member"), { botId, isBot });
    return [{ messageId, sender, text: getText(message, { botId, roleId: undefined }), timestamp }];
  });
}
