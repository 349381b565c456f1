import {
  type ChannelContext,
  type Conversation,
  catchRefusal,
  isPayload,
  objectAt,
  type Payload,
  type Reference,
} from "@signalbox/channel";
import { idAt } from "../address.ts";
import type { DiscordApi } from "../api.ts";
import { limits } from "../limits.ts";
import { FORWARDED_MESSAGE, readEarlierMessage } from "./content.ts";
import type { OwnIds } from "./mentions.ts";
import { isReply } from "./messages.ts";

/** Type of a reference to a forwarded message. Source: "Message Reference Types". */
const FORWARD = 1;

/**
 * Completes a reply whose event lacks the message that it replies to. Discord omits `referenced_message` if its backend
 * did not load the message, and sends `null` if the message was deleted.
 *
 * @throws ChannelError if the message cannot be looked up now
 */
export async function withReferencedMessage(
  api: DiscordApi,
  message: Payload,
  signal: AbortSignal,
): Promise<Payload> {
  const messageId = idAt(objectAt(message, "message_reference"), "message_id");
  const channelId = idAt(message, "channel_id");
  const isMissing = message["referenced_message"] === undefined;
  if (!isReply(message) || !isMissing || messageId === undefined || channelId === undefined) return message;
  return { ...message, referenced_message: await fetchMessage(api, channelId, messageId, signal) };
}

/**
 * Looks up the original of a forwarded message, whose author the event lacks. The message is passed on without it if
 * the bot cannot see the original, or if it cannot be looked up now.
 */
export async function withForwardedMessage(
  api: DiscordApi,
  message: Payload,
  signal: AbortSignal,
): Promise<Payload> {
  const reference = objectAt(message, "message_reference");
  const [channelId, messageId] = [idAt(reference, "channel_id"), idAt(reference, "message_id")];
  if (reference["type"] !== FORWARD || channelId === undefined || messageId === undefined) return message;
  const original = await fetchMessage(api, channelId, messageId, signal).catch(() => null);
  return original === null ? message : { ...message, [FORWARDED_MESSAGE]: original };
}

interface ThreadSources {
  readonly api: DiscordApi;
  readonly context: ChannelContext;
}

/**
 * Looks up the message that started a thread, once per thread. It has the id of the thread and is in the parent
 * channel, or in the thread itself if that is a forum post.
 *
 * @returns `undefined` if the conversation is not a thread, or if an earlier message already referred to its start
 */
export async function lookUpThreadStart(
  { api, context: { cache } }: ThreadSources,
  { id, parentId }: Conversation,
  own: OwnIds,
  signal: AbortSignal,
): Promise<Reference | undefined> {
  if (parentId === undefined) return undefined;
  const key = `thread-start/${own.botId}/${id}`;
  if ((await cache.get(key)) !== undefined) return undefined;
  const start = (await fetchMessage(api, parentId, id, signal)) ?? (await fetchMessage(api, id, id, signal));
  await cache.set(key, true, limits.threadStartMs);
  return start === null ? undefined : { ...readEarlierMessage(start, own), kind: "thread", messageId: id };
}

/** Returns `null` if the message does not exist or the bot cannot access it. */
async function fetchMessage(
  api: DiscordApi,
  channelId: string,
  messageId: string,
  signal: AbortSignal,
): Promise<Payload | null> {
  const path = `/channels/${channelId}/messages/${messageId}` as const;
  const request = api.call({ what: "looking up a message", method: "GET", path, signal });
  const message = await catchRefusal(request, null);
  return isPayload(message) ? message : null;
}
