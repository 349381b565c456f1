import { ChannelError, pathSegment } from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import { emojiType } from "../emoji.ts";

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
    client.messageReaction.create({ path: { message_id: pathSegment(messageId) }, data }),
  );
}

/** One that was tried twice, since its first answer was lost, may be there twice. */
export async function removeReactions(
  app: App,
  messageId: string,
  emoji: string,
  signal: AbortSignal,
): Promise<void> {
  for (const reactionId of await ownReactions(app, messageId, reactionOf(emoji), signal)) {
    const path = { message_id: pathSegment(messageId), reaction_id: pathSegment(reactionId) };
    await app.api.call({ what: "taking a reaction back", write: true, signal }, (client) =>
      client.messageReaction.delete({ path }),
    );
  }
}

/** Those of one kind that the app itself gave. */
async function ownReactions(
  { api, appId }: App,
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
    (one) => one.operator?.operator_id === appId && one.reaction_type?.emoji_type === type,
  );
  return own?.flatMap((one) => one.reaction_id ?? []) ?? [];
}
