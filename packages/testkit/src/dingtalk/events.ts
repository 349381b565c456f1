import { randomUUID } from "node:crypto";
import type { Raw } from "../raw.ts";

/** The bot as messages to it name it. */
export const chatbotUserId = "$:LWCP_v1:$bot";
export const person = { staffId: "manager7", id: "$:LWCP_v1:$manager7", nick: "张三" } as const;
export const directId = "cidDirect7==";
export const groupId = "cidGroup1==";

export interface MessageOptions {
  readonly msgId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly sender?: { readonly staffId?: string; readonly id: string; readonly nick?: string } | undefined;
  /** Milliseconds since the epoch. */
  readonly createAt?: number | undefined;
  /** Overrides fields of the message. */
  readonly fields?: Raw;
}

/** The data of a message to the bot in a direct chat. Source: DingTalk's page "Bot receives messages". */
export function directMessage(msgtype: string, content: Raw, options: MessageOptions = {}): Raw {
  const { sender = person, conversationId = directId, createAt = Date.now(), fields = {} } = options;
  return {
    conversationId,
    conversationType: "1",
    chatbotCorpId: "dingcorp",
    chatbotUserId,
    msgId: options.msgId ?? `msg${randomUUID()}`,
    senderNick: sender.nick ?? "somebody",
    isAdmin: false,
    senderStaffId: sender.staffId,
    senderCorpId: "dingcorp",
    senderId: sender.id,
    sessionWebhook: "https://oapi.dingtalk.com/robot/sendBySession?session=never-used",
    sessionWebhookExpiredTime: createAt + 5_400_000,
    createAt,
    robotCode: "dingbot",
    msgtype,
    ...(msgtype === "text" ? { text: content } : { content }),
    ...fields,
  };
}

/** A text in a direct chat. */
export function textMessage(text: string, options?: MessageOptions): Raw {
  return directMessage("text", { content: text }, options);
}

/** Puts a message into a group, where it mentions the bot. */
export function inGroup(message: Raw, conversationId: string = groupId): Raw {
  return {
    ...message,
    conversationId,
    conversationType: "2",
    conversationTitle: "Release",
    isInAtList: true,
    atUsers: [{ dingtalkId: chatbotUserId }],
  };
}

/** A text in a group that mentions the bot. DingTalk removes the mention and keeps the space after it. */
export function groupMention(text: string, options: MessageOptions = {}): Raw {
  return inGroup(textMessage(` ${text}`, options), options.conversationId);
}

/** A click on a button of a card. */
export function buttonClick(outTrackId: string, buttonId: string, userId: string = person.staffId): Raw {
  return {
    type: "actionCallback",
    outTrackId,
    corpId: "dingcorp",
    userId,
    userIdType: 1,
    spaceType: "IM",
    spaceId: directId,
    content: JSON.stringify({ cardPrivateData: { actionIds: [buttonId], params: {} } }),
  };
}
