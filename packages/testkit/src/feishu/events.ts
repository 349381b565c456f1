import type { Raw } from "../raw.ts";

/** An event of Feishu, before encryption. */
export interface FeishuEvent {
  readonly schema: "2.0";
  readonly header: Raw & { readonly event_id: string; readonly event_type: string };
  readonly event: Raw;
}

export interface EventOptions {
  /** Default: a new generated id. */
  readonly eventId?: string;
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number;
  readonly appId?: string;
}

export interface TextOptions extends EventOptions {
  readonly messageId?: string;
  /** Default `oc_direct`, or `oc_group` for a group. */
  readonly chatId?: string;
  readonly chatType?: "p2p" | "group" | "topic_group";
  /** The sender's open id. Default `ou_sender`. */
  readonly senderId?: string;
  readonly senderType?: "user" | "app";
  readonly parentId?: string;
  readonly rootId?: string;
  readonly threadId?: string;
  readonly mentions?: readonly { readonly key: string; readonly openId: string; readonly name: string }[];
}

let count = 0;

function unique(prefix: string): string {
  count += 1;
  return `${prefix}_${process.pid.toString(36)}_${count.toString(36)}`;
}

function envelope(type: string, event: Raw, options: EventOptions): FeishuEvent {
  return {
    schema: "2.0",
    header: {
      event_id: options.eventId ?? unique("ev"),
      event_type: type,
      create_time: String(options.at ?? Date.now()),
      app_id: options.appId ?? "cli_fake",
      tenant_key: "tenant",
    },
    event,
  };
}

/** Returns an `im.message.receive_v1` event with any message type and content. */
export function messageEvent(messageType: string, content: unknown, options: TextOptions = {}): FeishuEvent {
  const chatType = options.chatType ?? "p2p";
  const message: Raw = {
    message_id: options.messageId ?? unique("om"),
    create_time: String(options.at ?? Date.now()),
    chat_id: options.chatId ?? (chatType === "p2p" ? "oc_direct" : "oc_group"),
    chat_type: chatType,
    message_type: messageType,
    content: typeof content === "string" ? content : JSON.stringify(content),
  };
  if (options.parentId !== undefined) message["parent_id"] = options.parentId;
  const rootId = options.rootId ?? options.parentId;
  if (rootId !== undefined) message["root_id"] = rootId;
  if (options.threadId !== undefined) message["thread_id"] = options.threadId;
  if (options.mentions !== undefined) {
    message["mentions"] = options.mentions.map(({ key, openId, name }) => ({
      key,
      id: { open_id: openId, union_id: `on_${openId}`, user_id: null },
      name,
      tenant_key: "tenant",
    }));
  }
  const senderId = options.senderId ?? "ou_sender";
  const sender = {
    sender_id: { open_id: senderId, union_id: `on_${senderId}`, user_id: null },
    sender_type: options.senderType ?? "user",
    tenant_key: "tenant",
  };
  return envelope("im.message.receive_v1", { sender, message }, options);
}

/** Returns a plain text message, by default in a direct conversation. */
export function textMessage(text: string, options: TextOptions = {}): FeishuEvent {
  return messageEvent("text", { text }, options);
}

/** Returns a rich text message with rows of elements. */
export function postMessage(
  rows: readonly (readonly Raw[])[],
  options: TextOptions & { readonly title?: string } = {},
): FeishuEvent {
  return messageEvent("post", { title: options.title ?? "", content: rows }, options);
}

export function imageMessage(imageKey: string, options: TextOptions = {}): FeishuEvent {
  return messageEvent("image", { image_key: imageKey }, options);
}

export function fileMessage(fileKey: string, fileName: string, options: TextOptions = {}): FeishuEvent {
  return messageEvent("file", { file_key: fileKey, file_name: fileName }, options);
}

/** Returns the message `@Bot text` in a group. */
export function groupMention(
  text: string,
  bot: { readonly openId: string; readonly name: string },
  options: TextOptions = {},
): FeishuEvent {
  const key = "@_user_1";
  return textMessage(`${key} ${text}`, {
    chatType: "group",
    ...options,
    mentions: [{ key, openId: bot.openId, name: bot.name }, ...(options.mentions ?? [])],
  });
}

/** Returns a reply to the message `parentId` in a group. */
export function replyMessage(text: string, parentId: string, options: TextOptions = {}): FeishuEvent {
  return textMessage(text, { chatType: "group", ...options, parentId });
}

/** Returns a message in a group thread. */
export function threadMessage(
  text: string,
  thread: { readonly threadId: string; readonly rootId: string },
  options: TextOptions = {},
): FeishuEvent {
  return textMessage(text, {
    chatType: "group",
    ...options,
    ...thread,
    parentId: options.parentId ?? thread.rootId,
  });
}

/** Returns the event for a message that its sender recalls. */
export function recalled(
  messageId: string,
  options: EventOptions & { readonly chatId?: string } = {},
): FeishuEvent {
  const at = String(options.at ?? Date.now());
  const event = {
    message_id: messageId,
    chat_id: options.chatId ?? "oc_direct",
    recall_time: at,
    recall_type: "message_owner",
  };
  return envelope("im.message.recalled_v1", event, options);
}

export function reaction(
  messageId: string,
  emojiType: string,
  options: EventOptions & { readonly userId?: string; readonly removed?: boolean } = {},
): FeishuEvent {
  const type = options.removed === true ? "im.message.reaction.deleted_v1" : "im.message.reaction.created_v1";
  const event = {
    message_id: messageId,
    reaction_type: { emoji_type: emojiType },
    operator_type: "user",
    user_id: { open_id: options.userId ?? "ou_sender", union_id: "on_sender", user_id: null },
    action_time: String(options.at ?? Date.now()),
  };
  return envelope(type, event, options);
}

/** Returns the event for a bot that is added to a group. */
export function memberAdded(
  chatId: string,
  options: EventOptions & { readonly operatorId?: string } = {},
): FeishuEvent {
  const event = {
    chat_id: chatId,
    operator_id: { open_id: options.operatorId ?? "ou_sender", union_id: "on_sender", user_id: null },
    external: false,
    operator_tenant_key: "tenant",
    name: "A group",
  };
  return envelope("im.chat.member.bot.added_v1", event, options);
}

interface CardActionOptions extends EventOptions {
  readonly chatId?: string;
  readonly operatorId?: string;
  /** Value of the selected menu option. */
  readonly option?: string;
  /** Values of the form that the button submits. */
  readonly form?: Raw;
}

/** Returns the event for a click on a card's button or a selection in its menu. */
export function cardAction(messageId: string, value: unknown, options: CardActionOptions = {}): FeishuEvent {
  const { option, form } = options;
  const action = {
    value,
    tag: option === undefined ? "button" : "select_static",
    option,
    form_value: form,
  };
  const event = {
    operator: { tenant_key: "tenant", open_id: options.operatorId ?? "ou_sender", union_id: "on_sender" },
    token: "c-callback",
    action,
    host: "im_message",
    context: { open_message_id: messageId, open_chat_id: options.chatId ?? "oc_direct" },
  };
  return envelope("card.action.trigger", event, options);
}
