import { isRaw, type Raw } from "../raw.ts";
import type { Parameters, UploadedFile } from "./parameters.ts";
import { type ApiReply, badRequest, chatMigrated, ok, refuse, tooMany } from "./reply.ts";
import { readRich } from "./rich.ts";

/** A stored message, sent by the bot or added by the test. */
export interface TelegramMessage {
  readonly chatId: string;
  readonly messageId: number;
  readonly text: string;
  readonly entities: readonly Raw[];
  /** The blocks of a rich message. Its text is in `text`. */
  readonly rich?: readonly Raw[] | undefined;
  readonly topicId?: number | undefined;
  readonly replyTo?: number;
  readonly keyboard?: unknown;
  /** The media and its kind. */
  readonly media?: { readonly kind: MediaField; readonly file: UploadedFile };
  readonly poll?: TelegramPoll;
  readonly fromBot: boolean;
  /** Texts before each edit and the current one, oldest first. */
  readonly texts: readonly string[];
  readonly deleted: boolean;
}

/** A poll in a request. */
interface TelegramPoll {
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
}

type MediaField = "photo" | "voice" | "audio" | "video" | "document";

type Kept = { -readonly [K in keyof TelegramMessage]: TelegramMessage[K] } & { texts: string[] };

/**
 * Sources: sendMessage, InlineKeyboardButton, sendPoll, sendPhoto, sendDocument and setMessageReaction of the
 * reference.
 */
const longestText = 4_096;
const mostPhotoBytes = 10_485_760;
const mostFileBytes = 52_428_800;
const mostCallbackBytes = 64;
const mostPollOptions = 12;
const longestQuestion = 300;
const longestOption = 100;
const markTypes = new Set([
  ...["mention", "hashtag", "bot_command", "url", "email", "bold", "italic", "underline", "strikethrough"],
  ...[
    "spoiler",
    "blockquote",
    "expandable_blockquote",
    "code",
    "pre",
    "text_link",
    "text_mention",
    "custom_emoji",
  ],
]);
const reactionsTaken = new Set(["👍", "👎", "❤", "🔥", "👏", "🎉", "🤔", "👀", "💯", "🙏", "👌", "✍"]);

export interface MessageRules {
  /** Ids of chats to which the bot may write. `undefined`: every chat. */
  readonly chats: ReadonlySet<string> | undefined;
  /** People who blocked the bot. */
  readonly blocked: ReadonlySet<string>;
  /** Topics that accept no messages, by `chat/topic`. */
  readonly refusedTopics: ReadonlyMap<string, "closed" | "deleted">;
  /** Ids of supergroups, by the id of the former group. */
  readonly migrated: ReadonlyMap<string, number>;
  /** Refuse messages over a chat's rate limit. */
  flood: boolean;
  readonly now: () => number;
  readonly bot: Raw;
}

/** Calls about messages. */
export class Messages {
  readonly all: Kept[] = [];
  readonly reactions: Map<string, string[]> = new Map();
  readonly #rules: MessageRules;
  /** Votes for each answer of a poll, by message number. */
  readonly votes: Map<number, readonly number[]> = new Map();
  readonly #stopped = new Set<TelegramMessage>();
  readonly #recent = new Map<string, number[]>();
  #count = 0;

  constructor(rules: MessageRules) {
    this.#rules = rules;
  }

  sendText({ values }: Parameters): ApiReply {
    const refused =
      this.#refusesPlace(values) ?? refusesText(values, "text") ?? refusesKeyboard(values["reply_markup"]);
    return refused ?? this.#limited(values) ?? this.#keep(values, { text: String(values["text"]) });
  }

  sendRich({ values }: Parameters): ApiReply {
    const refused = this.#refusesPlace(values) ?? refusesKeyboard(values["reply_markup"]);
    if (refused !== undefined) return refused;
    const content = readRich(values["rich_message"]);
    if ("ok" in content) return content;
    return this.#limited(values) ?? this.#keep(values, { text: content.text, rich: content.blocks });
  }

  sendMedia(kind: MediaField, parameters: Parameters): ApiReply {
    const { values } = parameters;
    const file = parameters.file(kind);
    const refused = this.#refusesPlace(values) ?? refusesFile(kind, file);
    if (refused !== undefined || file === undefined) return refused ?? badRequest("there is no file");
    return this.#limited(values) ?? this.#keep(values, { text: "", media: { kind, file } });
  }

  sendPoll({ values }: Parameters): ApiReply {
    const refused = this.#refusesPlace(values) ?? refusesPoll(values);
    if (refused !== undefined) return refused;
    const poll = {
      question: String(values["question"]),
      options: optionsIn(values),
      multiple: values["allows_multiple_answers"] === true,
    };
    return this.#limited(values) ?? this.#keep(values, { text: "", poll });
  }

  /** Source: stopPoll of the reference. */
  stopPoll({ values }: Parameters): ApiReply {
    const message = this.find(values["chat_id"], values["message_id"]);
    if (message?.poll === undefined || !message.fromBot)
      return badRequest("message with poll to stop not found");
    if (this.#stopped.has(message)) return badRequest("poll has already been closed");
    this.#stopped.add(message);
    const votes = this.votes.get(message.messageId) ?? [];
    const { question, options, multiple } = message.poll;
    return ok({
      id: String(message.messageId),
      question,
      options: options.map((text, index) => ({ text, voter_count: votes[index] ?? 0 })),
      total_voter_count: votes.reduce((sum, count) => sum + count, 0),
      is_closed: true,
      is_anonymous: true,
      type: "regular",
      allows_multiple_answers: multiple,
    });
  }

  editText({ values }: Parameters): ApiReply {
    const refused = this.#refusesPlace(values) ?? refusesKeyboard(values["reply_markup"]);
    if (refused !== undefined) return refused;
    const content = editedContent(values);
    if ("ok" in content) return content;
    const message = this.find(values["chat_id"], values["message_id"]);
    if (message === undefined) return badRequest("message to edit not found");
    if (!message.fromBot) return badRequest("message can't be edited");
    if (message.media !== undefined) return badRequest("there is no text in the message to edit");
    const next = { ...content, keyboard: values["reply_markup"] };
    const { text, entities, rich, keyboard } = message;
    if (JSON.stringify(next) === JSON.stringify({ text, entities, rich, keyboard }))
      return badRequest(
        "message is not modified: specified new message content and reply markup are exactly the same",
      );
    const limited = this.#limited(values);
    if (limited !== undefined) return limited;
    Object.assign(message, next);
    message.texts.push(next.text);
    return ok(this.#shown(message));
  }

  editKeyboard({ values }: Parameters): ApiReply {
    const refused = this.#refusesPlace(values) ?? refusesKeyboard(values["reply_markup"]);
    if (refused !== undefined) return refused;
    const message = this.find(values["chat_id"], values["message_id"]);
    if (message === undefined) return badRequest("message to edit not found");
    if (!message.fromBot) return badRequest("message can't be edited");
    if (JSON.stringify(message.keyboard) === JSON.stringify(values["reply_markup"]))
      return badRequest("message is not modified");
    message.keyboard = values["reply_markup"];
    return ok(this.#shown(message));
  }

  remove({ values }: Parameters): ApiReply {
    const message = this.find(values["chat_id"], values["message_id"]);
    if (message === undefined) return badRequest("message to delete not found");
    message.deleted = true;
    return ok(true);
  }

  react({ values }: Parameters): ApiReply {
    const message = this.find(values["chat_id"], values["message_id"]);
    if (message === undefined) return badRequest("message to react not found");
    const emoji = Array.isArray(values["reaction"])
      ? values["reaction"].filter(isRaw).map((one) => String(one["emoji"]))
      : [];
    if (emoji.length > 1 || emoji.some((one) => !reactionsTaken.has(one)))
      return badRequest("REACTION_INVALID");
    this.reactions.set(`${message.chatId}:${message.messageId}`, emoji);
    return ok(true);
  }

  /** Adds a message of a person, which can get replies and reactions. */
  plant(chatId: number, messageId: number, topicId?: number): void {
    this.all.push({
      topicId,
      chatId: String(chatId),
      messageId,
      text: "",
      entities: [],
      fromBot: false,
      texts: [],
      deleted: false,
    });
    this.#count = Math.max(this.#count, messageId);
  }

  find(chatId: unknown, messageId: unknown): Kept | undefined {
    return this.all.find(
      (message) => message.chatId === String(chatId) && message.messageId === messageId && !message.deleted,
    );
  }

  #refusesPlace(values: Raw): ApiReply | undefined {
    const chatId = String(values["chat_id"] ?? "");
    if (!/^-?\d+$/.test(chatId)) return badRequest("chat_id is empty");
    if (this.#rules.blocked.has(chatId)) return refuse(403, "Forbidden: bot was blocked by the user");
    if (this.#rules.chats !== undefined && !this.#rules.chats.has(chatId))
      return badRequest("chat not found");
    const migratedTo = this.#rules.migrated.get(chatId);
    if (migratedTo !== undefined) return chatMigrated(migratedTo);
    const topic = values["message_thread_id"];
    const canHaveTopics = chatId.startsWith("-100") || !chatId.startsWith("-");
    if (topic !== undefined && !(Number.isInteger(topic) && canHaveTopics))
      return badRequest("message thread not found");
    const { reply_parameters: reply } = values;
    // Without a topic, a reply is sent to the topic of the message that it replies to.
    const answered = isRaw(reply) ? this.find(chatId, reply["message_id"]) : undefined;
    const refusedTopic = this.#rules.refusedTopics.get(`${chatId}/${String(topic ?? answered?.topicId)}`);
    if (refusedTopic === "closed") return badRequest("TOPIC_CLOSED");
    if (refusedTopic === "deleted" && topic !== undefined) return badRequest("message thread not found");
    if (!isRaw(reply) || reply["allow_sending_without_reply"] === true) return undefined;
    return answered === undefined ? badRequest("message to be replied not found") : undefined;
  }

  /** About one message per second in a chat, and 20 per minute in a group. */
  #limited(values: Raw): ApiReply | undefined {
    if (!this.#rules.flood) return undefined;
    const chatId = String(values["chat_id"]);
    const now = this.#rules.now();
    const everyMs = chatId.startsWith("-") ? 3_000 : 1_000;
    const recent = (this.#recent.get(chatId) ?? []).filter((at) => now - at < 20 * everyMs);
    const burst = recent.filter((at) => now - at < everyMs);
    if (recent.length >= 20 || burst.length >= 3) return tooMany(Math.ceil(everyMs / 1_000));
    this.#recent.set(chatId, [...recent, now]);
    return undefined;
  }

  #keep(values: Raw, content: Pick<TelegramMessage, "text" | "rich" | "media" | "poll">): ApiReply {
    this.#count += 1;
    const { reply_parameters: reply, message_thread_id: topic, reply_markup: keyboard } = values;
    const replyTo =
      isRaw(reply) && this.find(values["chat_id"], reply["message_id"]) !== undefined
        ? reply["message_id"]
        : undefined;
    const message: Kept = {
      chatId: String(values["chat_id"]),
      messageId: this.#count,
      entities: entitiesIn(values),
      fromBot: true,
      texts: [content.text],
      deleted: false,
      ...content,
      ...(typeof topic === "number" ? { topicId: topic } : {}),
      ...(typeof replyTo === "number" ? { replyTo } : {}),
      keyboard,
    };
    this.all.push(message);
    return ok(this.#shown(message));
  }

  #shown({ messageId, chatId, text }: Kept): Raw {
    const type = chatId.startsWith("-") ? "supergroup" : "private";
    const date = Math.floor(this.#rules.now() / 1_000);
    return { message_id: messageId, date, chat: { id: Number(chatId), type }, from: this.#rules.bot, text };
  }
}

/** Returns the new content of an edited message: text with entities, or blocks. */
function editedContent(values: Raw): Pick<TelegramMessage, "text" | "entities" | "rich"> | ApiReply {
  const { text, rich_message: rich } = values;
  if (rich === undefined)
    return (
      refusesText(values, "text") ?? { text: String(text), entities: entitiesIn(values), rich: undefined }
    );
  if (text !== undefined) return badRequest("text and rich_message exclude each other");
  const content = readRich(rich);
  return "ok" in content ? content : { text: content.text, entities: [], rich: content.blocks };
}

function entitiesIn(values: Raw): Raw[] {
  return Array.isArray(values["entities"]) ? values["entities"].filter(isRaw) : [];
}

function refusesText(values: Raw, field: string): ApiReply | undefined {
  const text = values[field];
  if (typeof text !== "string" || text.trim() === "") return badRequest("message text is empty");
  if (!text.isWellFormed()) return badRequest("strings must be encoded in UTF-8");
  if (text.length > longestText) return badRequest("message is too long");
  if (values["parse_mode"] !== undefined)
    return badRequest("can't parse entities: the fake server reads no markup");
  return refusesEntities(entitiesIn(values), text);
}

/** The real server drops or corrects some of these silently. Here they are errors. */
function refusesEntities(entities: readonly Raw[], text: string): ApiReply | undefined {
  if (entities.length > 100) return badRequest("too many entities");
  for (const { type, offset, length, url } of entities) {
    if (!markTypes.has(String(type))) return badRequest(`unknown entity type ${String(type)}`);
    const isPlaced =
      typeof offset === "number" &&
      typeof length === "number" &&
      offset >= 0 &&
      length > 0 &&
      offset + length <= text.length;
    if (!isPlaced) return badRequest("an entity lies outside of the text");
    if (type === "text_link" && !URL.canParse(String(url))) return badRequest("ENTITY_URL_INVALID");
  }
  return overlap(entities) ? badRequest("entities overlap") : undefined;
}

/** Entities must be nested or separate, and code must not contain others. */
function overlap(entities: readonly Raw[]): boolean {
  const ranges = entities.map(({ type, offset, length }) => ({
    type: String(type),
    start: Number(offset),
    end: Number(offset) + Number(length),
  }));
  return ranges.some((a, index) =>
    ranges.slice(index + 1).some((b) => {
      const meet = a.start < b.end && b.start < a.end;
      const nested = (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
      const code = [a, b].some(({ type }) => type === "code" || type === "pre");
      const quote = [a, b].some(({ type }) => type === "blockquote");
      return meet && (!nested || (code && !quote));
    }),
  );
}

function optionsIn({ options }: Raw): string[] {
  return Array.isArray(options) ? options.filter(isRaw).map(({ text }) => String(text)) : [];
}

function refusesPoll(values: Raw): ApiReply | undefined {
  const { question } = values;
  const options = optionsIn(values);
  if (typeof question !== "string" || question.length < 1 || question.length > longestQuestion)
    return badRequest("poll question length must be between 1 and 300");
  if (options.length < 2 || options.length > mostPollOptions)
    return badRequest("poll must have between 2 and 12 options");
  return options.some(({ length }) => length < 1 || length > longestOption)
    ? badRequest("poll options length must not exceed 100")
    : undefined;
}

function refusesKeyboard(markup: unknown): ApiReply | undefined {
  if (markup === undefined) return undefined;
  const rows = isRaw(markup) ? markup["inline_keyboard"] : undefined;
  if (!Array.isArray(rows)) return badRequest("can't parse reply keyboard markup JSON object");
  const buttons = rows.flat().filter(isRaw);
  if (buttons.length > 100) return badRequest("reply markup is too long");
  for (const { text, callback_data: data } of buttons) {
    if (typeof text !== "string" || text === "") return badRequest("inline keyboard button text is empty");
    if (!text.isWellFormed()) return badRequest("strings must be encoded in UTF-8");
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : 0;
    if (bytes < 1 || bytes > mostCallbackBytes) return badRequest("BUTTON_DATA_INVALID");
  }
  return undefined;
}

function refusesFile(kind: MediaField, file: UploadedFile | undefined): ApiReply | undefined {
  if (file === undefined || file.content.byteLength === 0) return badRequest("file must be non-empty");
  const most = kind === "photo" ? mostPhotoBytes : mostFileBytes;
  return file.content.byteLength > most ? refuse(413, "Request Entity Too Large") : undefined;
}
