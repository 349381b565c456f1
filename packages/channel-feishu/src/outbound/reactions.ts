import { ChannelError, encodePathSegment } from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import { emojiType } from "../emoji.ts";
import { listed } from "../listed.ts";

/** Maximum page size of Feishu's list. */
const pageSize = 50;
/** Maximum number of pages to search: a thousand reactions of one type. */
const mostPages = 20;

interface App {
  readonly api: FeishuApi;
  readonly appId: string;
}

function reactionOf(emoji: string): string {
  const type = emojiType(emoji);
  if (type !== undefined) return type;
  throw new ChannelError("unsupported", `Feishu has no reaction ${emoji.slice(0, 20)}`);
}

export async function addReaction(
  api: FeishuApi,
  messageId: string,
  emoji: string,
  signal: AbortSignal,
): Promise<void> {
  const data = { reaction_type: { emoji_type: reactionOf(emoji) } };
  await api.call({ what: "reacting", write: true, signal }, (client) =>
    client.messageReaction.create({ path: { message_id: encodePathSegment(messageId) }, data }),
  );
}

/** A reaction may exist twice if the response to the first attempt was lost. */
export async function removeReactions(
  app: App,
  messageId: string,
  emoji: string,
  signal: AbortSignal,
): Promise<void> {
  for (const reactionId of await ownReactions(app, messageId, reactionOf(emoji), signal)) {
    const path = { message_id: encodePathSegment(messageId), reaction_id: encodePathSegment(reactionId) };
    await app.api.call({ what: "taking a reaction back", write: true, signal }, (client) =>
      client.messageReaction.delete({ path }),
    );
  }
}

/**
 * Yields the app's own reactions of one type. The list also contains people's reactions, so the app's may be on any
 * page.
 */
async function ownReactions(
  { api, appId }: App,
  messageId: string,
  type: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const own: string[] = [];
  const found = listed(mostPages, (next) =>
    api.call({ what: "looking reactions up", write: false, signal }, (client) =>
      client.messageReaction.list({
        path: { message_id: encodePathSegment(messageId) },
        params: { reaction_type: type, page_size: pageSize, ...next },
      }),
    ),
  );
  for await (const { operator, reaction_type, reaction_id } of found) {
    const isOwn = operator?.operator_id === appId && reaction_type?.emoji_type === type;
    if (isOwn && reaction_id !== undefined) own.push(reaction_id);
  }
  return own;
}
