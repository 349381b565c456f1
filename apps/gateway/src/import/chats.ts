import { formatSessionKey } from "@signalbox/routing";
import { placeInScope, placeOnOwnersPage, type SessionPlace } from "./places.ts";

/** A chat that the source identifies only by its platform id. */
export interface Chat {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string | undefined;
  /** Absent if the source does not record it. */
  readonly kind?: "direct" | "group" | undefined;
}

/** Channels whose conversations can be continued here. */
export const CHANNELS: readonly string[] = ["telegram", "discord", "slack", "feishu"];

/**
 * Returns the kind of a chat from the form of its id.
 *
 * @returns undefined if the id does not show it
 */
export function kindOfChat({ channel, chatId, kind }: Chat): "direct" | "group" | undefined {
  if (kind !== undefined) return kind;
  if (channel === "telegram") return chatId.startsWith("-") ? "group" : "direct";
  if (channel === "feishu") return chatId.startsWith("oc_") ? "group" : "direct";
  if (channel === "slack") return /^[CG]/.test(chatId) ? "group" : undefined;
  return undefined;
}

/**
 * Returns the place of a chat here.
 *
 * @returns the reason, if it has none
 */
export function placeChat(
  chat: Chat,
  options: { readonly agentId: string; readonly account: string; readonly dmScope: string },
): SessionPlace | string {
  const { channel, chatId, thread } = chat;
  const { agentId, account, dmScope } = options;
  if (!CHANNELS.includes(channel)) return `Conversations of the channel ${channel} cannot be continued.`;
  const kind = kindOfChat(chat);
  if (kind === undefined) return "The source does not record if this is a group, or with whom.";
  if (kind === "direct")
    return placeInScope(agentId, { channel, account, peerId: chatId }, { dmScope, links: new Map() }, thread);
  const parts = {
    kind,
    agentId,
    channel,
    account,
    peerId: chatId,
    ...(thread === undefined ? {} : { threadId: thread }),
  };
  return { key: formatSessionKey(parts), agentId, channel, account, peer: chatId, kind, thread };
}

/** Loss of a conversation that {@link keepOnPage} places. */
export const KEPT_ON_PAGE = "It is kept as a conversation of the web page, for owners.";

/**
 * Returns a conversation of the web page in place of one that cannot continue here, if `isKept` is true.
 *
 * @param converted the place of the conversation, or the reason why it cannot continue
 */
export function keepOnPage(
  converted: SessionPlace | string,
  agentId: string,
  theirKey: string,
  isKept: boolean,
): SessionPlace | string {
  if (typeof converted !== "string") return converted;
  return isKept ? placeOnOwnersPage(agentId, theirKey) : `${converted} --keep-unsupported keeps it.`;
}
