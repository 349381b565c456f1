import { isRaw, type Raw } from "../raw.ts";
import { wrongElement } from "./card-elements.ts";
import { type Cards, cardIdIn, isShared } from "./cards.ts";
import { type ApiReply, ok, refusals } from "./reply.ts";
import type { Uploads } from "./uploads.ts";

/** A stored message, sent by the bot or added by the test. */
export interface SentMessage {
  readonly messageId: string;
  readonly chatId: string;
  readonly msgType: string;
  /** The content as received, a JSON text. For a card entity, its card at that time. */
  readonly content: string;
  /** The card entity that it shows. */
  readonly cardId?: string;
  readonly uuid?: string;
  /** The message that it replies to. */
  readonly parentId?: string;
  readonly rootId?: string;
  readonly threadId?: string;
  /** The merged forward that contains it. */
  readonly upperMessageId?: string;
  readonly senderId: string;
  readonly senderType: "app" | "user";
  /** In the format of the history. */
  readonly mentions?: readonly unknown[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Contents after each edit, oldest first. */
  readonly edits: readonly string[];
  readonly deleted: boolean;
}

type Stored = { -readonly [K in keyof SentMessage]: SentMessage[K] } & {
  edits: string[];
  /** Time of the last edit. */
  editedAt?: number;
};

/** Source: the limits of the send-message API, 150 KB for text, 30 KB for cards and rich text. */
const limits: Readonly<Record<string, number>> = {
  text: 150 * 1024,
  post: 30 * 1024,
  interactive: 30 * 1024,
};
const otherTypes = ["image", "file", "audio", "media", "sticker", "share_chat", "share_user", "system"];
const uuidMemoryMs = 3_600_000;
const perSecond = 5;
const cardChangesMs = 14 * 24 * 3_600_000;

export interface MessageRules {
  readonly appId: string;
  readonly now: () => number;
  /** Chats with the bot. `undefined`: every chat. */
  readonly chats: ReadonlySet<string> | undefined;
  rateLimit: boolean;
  /** Uploads that messages can show. */
  readonly uploads: Uploads;
  readonly cards: Cards;
}

/** Calls under `/open-apis/im/v1/messages` about the messages themselves. */
export class Messages {
  readonly all: Map<string, Stored> = new Map();
  readonly #uuids = new Map<string, { messageId: string; at: number }>();
  readonly #recent = new Map<string, number[]>();
  readonly #rules: MessageRules;
  #count = 0;

  constructor(rules: MessageRules) {
    this.#rules = rules;
  }

  create(query: URLSearchParams, body: unknown): ApiReply {
    const idType = query.get("receive_id_type");
    if (idType === null) return refusals.fieldValidation("receive_id_type");
    if (!["open_id", "user_id", "union_id", "email", "chat_id"].includes(idType)) {
      return refusals.invalidParameter("receive_id_type");
    }
    if (!isRaw(body)) return refusals.fieldValidation("receive_id");
    const receiveId = body["receive_id"];
    if (typeof receiveId !== "string" || receiveId === "") return refusals.fieldValidation("receive_id");
    const prefix = { chat_id: "oc_", open_id: "ou_", union_id: "on_" }[idType];
    if (prefix !== undefined && !receiveId.startsWith(prefix))
      return refusals.invalidParameter("invalid receive_id");
    const chatId = idType === "chat_id" ? receiveId : `oc_of_${receiveId}`;
    if (this.#rules.chats !== undefined && idType === "chat_id" && !this.#rules.chats.has(chatId)) {
      return refusals.notInChat();
    }
    return this.#send(chatId, body, {});
  }

  reply(messageId: string, body: unknown): ApiReply {
    const parent = this.all.get(messageId);
    if (parent === undefined || parent.deleted) return refusals.noSuchMessage();
    if (!isRaw(body)) return refusals.fieldValidation("content");
    const rootId = parent.rootId ?? parent.messageId;
    const threadId = parent.threadId ?? (body["reply_in_thread"] === true ? `omt_of_${rootId}` : undefined);
    return this.#send(parent.chatId, body, {
      parentId: messageId,
      rootId,
      threadId,
    });
  }

  /** PUT edits text and rich text, PATCH edits cards. */
  update(messageId: string, body: unknown, kind: "edit" | "card"): ApiReply {
    const message = this.all.get(messageId);
    if (message === undefined || message.deleted) return refusals.noSuchMessage();
    if (message.senderId !== this.#rules.appId) return refusals.notOwner();
    if (!isRaw(body)) return refusals.fieldValidation("content");
    const msgType = kind === "card" ? "interactive" : body["msg_type"];
    if (kind === "edit" && msgType !== "text" && msgType !== "post")
      return refusals.invalidParameter("msg_type");
    if (kind === "card" && message.msgType !== "interactive")
      return refusals.invalidParameter("This message is NOT a card.");
    const wrong = checkContent(msgType, body["content"]) ?? this.#unchangeable(message, kind, body);
    if (wrong !== undefined) return wrong;
    message.edits.push(String(body["content"]));
    message.msgType = String(msgType);
    return ok(kind === "card" ? {} : this.#wire(message));
  }

  /** Returns the reason why an existing message cannot be changed, if any. */
  #unchangeable(message: Stored, kind: "edit" | "card", body: Raw): ApiReply | undefined {
    const now = this.#rules.now();
    if (kind === "edit") return message.edits.length >= 20 ? refusals.editedTooOften() : undefined;
    // Feishu does not document this case, so clients must not depend on it.
    if (message.cardId !== undefined) return refusals.invalidParameter("the message shows a card entity");
    if (![message.edits.at(-1) ?? message.content, String(body["content"])].every(isSharedCard))
      return refusals.invalidParameter("update_multi is not true before and after the change");
    if (now - message.at > cardChangesMs) return refusals.tooOld();
    return this.#rules.rateLimit && !this.#admit(`card ${message.messageId}`, now)
      ? refusals.tooFrequent()
      : undefined;
  }

  /** Makes every sent message older. */
  age(ms: number): void {
    for (const message of this.all.values()) message.at -= ms;
    for (const known of this.#uuids.values()) known.at -= ms;
  }

  remove(messageId: string): ApiReply {
    const message = this.all.get(messageId);
    if (message === undefined || message.deleted) return refusals.noSuchMessage();
    if (message.senderId !== this.#rules.appId) return refusals.notOwner();
    message.deleted = true;
    return ok({});
  }

  get(messageId: string, query: URLSearchParams): ApiReply {
    const message = this.all.get(messageId);
    if (message === undefined) return refusals.noSuchMessage();
    return ok({ items: [message, ...this.#partsOf(messageId)].map((part) => this.#listed(part, query)) });
  }

  /** Returns the card entity that a message shows. */
  cardOf(body: unknown): ApiReply {
    const message = isRaw(body) ? this.all.get(String(body["message_id"])) : undefined;
    if (message === undefined) return refusals.noSuchMessage();
    return message.cardId === undefined
      ? refusals.invalidParameter("the message shows no card entity")
      : ok({ card_id: message.cardId });
  }

  /** Returns the contents of a merged forward, including nested forwards, as a flat list. */
  #partsOf(messageId: string): readonly Stored[] {
    const parts = [...this.all.values()].filter((message) => message.upperMessageId === messageId);
    return parts.flatMap((part) => [part, ...this.#partsOf(part.messageId)]);
  }

  /** Changes an added message as its sender. */
  edit(messageId: string, content: string): void {
    const message = this.all.get(messageId);
    if (message === undefined) throw new Error(`there is no message ${messageId}`);
    message.edits.push(content);
    message.editedAt = this.#rules.now();
  }

  list(query: URLSearchParams): ApiReply {
    const container = query.get("container_id");
    const type = query.get("container_id_type");
    if (container === null) return refusals.fieldValidation("container_id");
    if (type !== "chat" && type !== "thread") return refusals.invalidParameter("container_id_type");
    const start = Number(query.get("start_time") ?? 0) * 1000;
    const end = Number(query.get("end_time") ?? Number.POSITIVE_INFINITY) * 1000;
    const size = Math.min(Number(query.get("page_size") ?? 20), 50);
    const from = Number(query.get("page_token") ?? 0);
    const found = [...this.all.values()].filter(
      (one) =>
        one.upperMessageId === undefined &&
        (type === "chat"
          ? one.chatId === container && one.threadId === undefined
          : one.threadId === container) &&
        one.at >= start &&
        one.at <= end + 999,
    );
    if (query.get("sort_type") === "ByCreateTimeDesc") found.reverse();
    const items = found.slice(from, from + size).map((one) => this.#listed(one, query));
    const more = from + size < found.length;
    return ok({ items, has_more: more, page_token: more ? String(from + size) : undefined });
  }

  /** Adds a message from a person that can be read and replied to. */
  plant(
    message: Pick<SentMessage, "messageId" | "chatId" | "msgType" | "content" | "senderId"> &
      Partial<SentMessage>,
  ): void {
    this.all.set(message.messageId, {
      senderType: "user",
      at: this.#rules.now(),
      deleted: false,
      ...message,
      edits: [],
    });
  }

  #send(chatId: string, body: Raw, place: Pick<Stored, "parentId" | "rootId" | "threadId">): ApiReply {
    const msgType = body["msg_type"];
    const { uploads } = this.#rules;
    const wrong = checkContent(msgType, body["content"]) ?? uploads.refuses(msgType, body["content"]);
    if (wrong !== undefined) return wrong;
    const uuid = body["uuid"];
    if (uuid !== undefined && (typeof uuid !== "string" || uuid.length > 50))
      return refusals.invalidParameter("uuid");
    const now = this.#rules.now();
    const known = uuid === undefined ? undefined : this.#uuids.get(`${chatId} ${uuid}`);
    const first =
      known !== undefined && now - known.at < uuidMemoryMs ? this.all.get(known.messageId) : undefined;
    if (first !== undefined) return ok(this.#wire(first));
    if (this.#rules.rateLimit && !this.#admit(chatId, now)) return refusals.tooFrequent();
    const edits: string[] = [];
    const cardId = cardIdIn(body["content"]);
    const shown =
      cardId === undefined
        ? String(body["content"])
        : this.#rules.cards.show(cardId, (card) => void edits.push(card));
    if (typeof shown !== "string") return shown;
    this.#count += 1;
    const message: Stored = {
      messageId: `om_sent_${this.#count}`,
      chatId,
      msgType: String(msgType),
      content: shown,
      cardId,
      uuid,
      ...place,
      senderId: this.#rules.appId,
      senderType: "app",
      at: now,
      edits,
      deleted: false,
    };
    this.all.set(message.messageId, message);
    if (uuid !== undefined) this.#uuids.set(`${chatId} ${uuid}`, { messageId: message.messageId, at: now });
    return ok(this.#wire(message));
  }

  /** Limits messages to one chat, or changes of one card, to five per second. */
  #admit(key: string, now: number): boolean {
    const recent = (this.#recent.get(key) ?? []).filter((at) => now - at < 1000);
    if (recent.length >= perSecond) return false;
    this.#recent.set(key, [...recent, now]);
    return true;
  }

  /** Cards of schema 2.0 are returned with their content only if the query asks for it. */
  #listed(message: Stored, query: URLSearchParams): Raw {
    const wire = this.#wire(message);
    const isAsked = query.get("card_msg_content_type") === "user_card_content";
    if (isAsked || message.msgType !== "interactive" || !isNewCard(message)) return wire;
    const elements = [[{ tag: "text", text: "请升级至最新版本客户端，以查看内容" }]];
    return { ...wire, body: { content: JSON.stringify({ title: null, elements }) } };
  }

  #wire(message: Stored): Raw {
    return {
      message_id: message.messageId,
      root_id: message.rootId,
      parent_id: message.parentId,
      thread_id: message.threadId,
      upper_message_id: message.upperMessageId,
      msg_type: message.msgType,
      create_time: String(message.at),
      update_time: String(message.editedAt ?? message.at),
      deleted: message.deleted,
      updated: message.edits.length > 0,
      chat_id: message.chatId,
      sender: {
        id: message.senderId,
        id_type: message.senderType === "app" ? "app_id" : "open_id",
        sender_type: message.senderType,
        tenant_key: "tenant",
      },
      mentions: message.mentions,
      body: { content: message.edits.at(-1) ?? message.content },
    };
  }
}

function isNewCard({ content }: Stored): boolean {
  const card: unknown = JSON.parse(content);
  return isRaw(card) && card["schema"] === "2.0";
}

function isSharedCard(content: string): boolean {
  const card: unknown = JSON.parse(content);
  return isRaw(card) && isShared(card);
}

/** Returns the refusal of the content, if any. */
function checkContent(msgType: unknown, content: unknown): ApiReply | undefined {
  if (typeof msgType !== "string") return refusals.fieldValidation("msg_type");
  if (limits[msgType] === undefined && !otherTypes.includes(msgType))
    return refusals.invalidParameter("invalid msg_type");
  if (typeof content !== "string") return refusals.fieldValidation("content");
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    return refusals.invalidParameter("content is not a string in json format");
  }
  if (!isRaw(parsed)) return refusals.invalidParameter("content is not a string in json format");
  if (Buffer.byteLength(content) > (limits[msgType] ?? Number.POSITIVE_INFINITY)) return refusals.tooLong();
  if (msgType === "text") {
    const text = parsed["text"];
    return typeof text === "string" && text.trim() !== ""
      ? undefined
      : refusals.invalidParameter("text content is empty");
  }
  if (msgType === "post") return checkPost(parsed);
  if (msgType === "interactive") return checkCard(parsed);
  return undefined;
}

const postTags = ["text", "a", "at", "img", "media", "emotion", "hr", "code_block", "md"];

function checkPost(post: Raw): ApiReply | undefined {
  const locales = Object.values(post);
  if (locales.length === 0) return refusals.invalidParameter("invalid message content");
  for (const locale of locales) {
    const rows = isRaw(locale) ? locale["content"] : undefined;
    if (!Array.isArray(rows) || rows.length === 0)
      return refusals.invalidParameter("invalid message content");
    for (const element of rows.flat()) {
      if (!isRaw(element) || !postTags.includes(String(element["tag"]))) {
        return refusals.invalidParameter("invalid message content: unknown tag");
      }
      if (element["tag"] === "md" && typeof element["text"] !== "string") {
        return refusals.invalidParameter("invalid message content: md without text");
      }
    }
  }
  return undefined;
}

function checkCard(card: Raw): ApiReply | undefined {
  if (card["type"] === "card") return undefined;
  const body = card["schema"] === "2.0" ? card["body"] : card;
  const elements = isRaw(body) ? body["elements"] : undefined;
  if (!Array.isArray(elements)) return refusals.cardFailed("elements is missing");
  const wrong = wrongElement(elements);
  return wrong === undefined ? undefined : refusals.cardFailed(wrong);
}
