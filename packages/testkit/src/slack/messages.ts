import { isRaw, type Raw } from "../raw.ts";
import { type Content, readContent, shownBy } from "./content.ts";
import { type ApiReply, objectsOf, ok, refuse, textOf } from "./reply.ts";

/** A stored message. */
export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
  /** The author. */
  readonly user: string;
  readonly botId?: string;
  readonly metadata?: unknown;
  readonly clientMsgId?: string;
  readonly files: readonly Raw[];
  readonly content: Content;
  /** Every text that people saw in it, in order. */
  readonly shown: readonly string[];
  /** True if it was edited after it was sent. */
  readonly isEdited: boolean;
  readonly isDeleted: boolean;
  /** Time until which text can be appended, in milliseconds since the epoch. */
  readonly streamsUntil?: number;
}

/** A message that a test adds, not written by the bot. */
export interface PlantedMessage {
  readonly channel: string;
  readonly ts?: string;
  readonly threadTs?: string;
  readonly user?: string;
  readonly botId?: string;
  readonly text?: string;
  readonly blocks?: readonly Raw[];
  readonly attachments?: readonly Raw[];
  readonly files?: readonly Raw[];
  readonly clientMsgId?: string;
}

export interface MessageRules {
  readonly now: () => number;
  readonly bot: { readonly userId: string; readonly botId: string };
  /** Lifetime of a stream, in milliseconds. */
  readonly streamMs: number;
  /** True if the app may read only 15 messages per request. */
  readonly limited: boolean;
  /**
   * Returns true for a direct conversation with the bot, or `undefined` if the bot is not a member of the conversation.
   */
  isDirect(channel: string): boolean | undefined;
}

type Written = { -readonly [Key in keyof SlackMessage]: SlackMessage[Key] };

/** The messages of all conversations, and the methods that read and write them. */
export class Messages {
  readonly #rules: MessageRules;
  readonly #all = new Map<string, Written>();
  #count = 0;

  constructor(rules: MessageRules) {
    this.#rules = rules;
  }

  /** Messages in the order of arrival, including deleted ones. */
  get all(): readonly SlackMessage[] {
    return [...this.#all.values()];
  }

  plant(given: PlantedMessage): string {
    const { channel, threadTs, user = "U_SENDER", botId, clientMsgId, files = [] } = given;
    const ts = given.ts ?? this.#nextTs();
    const { text = "", blocks, attachments } = given;
    const content = { text, blocks, attachments };
    this.#add({
      channel,
      ts,
      user,
      files,
      content,
      threadTs,
      botId,
      clientMsgId,
    });
    return ts;
  }

  post(args: Raw): ApiReply {
    const channel = textOf(args, "channel") ?? "";
    if (this.#rules.isDirect(channel) === undefined) return refuse("channel_not_found");
    const content = readContent(args);
    if (typeof content === "string") return refuse(content);
    return this.#sent(this.#own(args, channel, content));
  }

  update(args: Raw): ApiReply {
    const message = this.#find(args);
    if (message === undefined) return refuse("message_not_found");
    if (message.botId !== this.#rules.bot.botId) return refuse("cant_update_message");
    if (this.#isStreaming(message)) return refuse("streaming_state_conflict");
    const content = readContent(args);
    if (typeof content === "string") return refuse(content);
    this.#change(message, content);
    message.isEdited = true;
    if (args["metadata"] !== undefined) message.metadata = args["metadata"];
    return ok({ channel: message.channel, ts: message.ts, text: content.text });
  }

  remove(args: Raw): ApiReply {
    const message = this.#find(args);
    if (message === undefined) return refuse("message_not_found");
    if (message.botId !== this.#rules.bot.botId) return refuse("cant_delete_message");
    message.isDeleted = true;
    return ok({ channel: message.channel, ts: message.ts });
  }

  startStream(args: Raw): ApiReply {
    const channel = textOf(args, "channel") ?? "";
    const isDirect = this.#rules.isDirect(channel);
    if (isDirect === undefined) return refuse("channel_not_found");
    if (textOf(args, "thread_ts") === undefined) return refuse("invalid_thread_ts");
    if (!isDirect && textOf(args, "recipient_user_id") === undefined)
      return refuse("missing_recipient_user_id");
    if (!isDirect && textOf(args, "recipient_team_id") === undefined)
      return refuse("missing_recipient_team_id");
    const text = textOf(args, "markdown_text") ?? "";
    if (text.length > 12_000) return refuse("msg_too_long");
    const message = this.#own(args, channel, { text, blocks: [{ type: "markdown", text }] });
    message.streamsUntil = this.#rules.now() + this.#rules.streamMs;
    return this.#sent(message);
  }

  appendStream(args: Raw): ApiReply {
    const message = this.#find(args);
    if (message === undefined) return refuse("message_not_found");
    if (!this.#isStreaming(message)) return refuse("message_not_in_streaming_state");
    const more = textOf(args, "markdown_text");
    if (more === undefined) return refuse("no_text");
    return this.#append(message, more);
  }

  stopStream(args: Raw): ApiReply {
    const message = this.#find(args);
    if (message === undefined) return refuse("message_not_found");
    if (!this.#isStreaming(message)) return refuse("message_not_in_streaming_state");
    const more = textOf(args, "markdown_text");
    const appended = more === undefined ? undefined : this.#append(message, more);
    if (appended !== undefined && isRaw(appended.body) && appended.body["ok"] !== true) return appended;
    message.streamsUntil = 0;
    if (args["metadata"] !== undefined) message.metadata = args["metadata"];
    return ok({ channel: message.channel, ts: message.ts, message: asListed(message, true) });
  }

  /** `conversations.history`: newest first, without messages in threads. */
  history(args: Raw): ApiReply {
    const channel = textOf(args, "channel") ?? "";
    if (this.#rules.isDirect(channel) === undefined) return refuse("channel_not_found");
    const top = this.#standing(channel).filter(
      ({ ts, threadTs }) => threadTs === undefined || threadTs === ts,
    );
    return this.#page(args, top.toReversed());
  }

  /** `conversations.replies`: the thread's first message, then the others, oldest first. */
  replies(args: Raw): ApiReply {
    const channel = textOf(args, "channel") ?? "";
    const root = textOf(args, "ts");
    if (this.#rules.isDirect(channel) === undefined) return refuse("channel_not_found");
    const thread = this.#standing(channel).filter(({ ts, threadTs }) => ts === root || threadTs === root);
    return thread.length === 0 ? refuse("thread_not_found") : this.#page(args, thread);
  }

  /** Returns a message in a conversation by its timestamp. */
  find(channel: string, ts: string): SlackMessage | undefined {
    const message = this.#all.get(`${channel} ${ts}`);
    return message?.isDeleted === false ? message : undefined;
  }

  #find(args: Raw): Written | undefined {
    const key = `${textOf(args, "channel")} ${textOf(args, "ts")}`;
    const message = this.#all.get(key);
    return message?.isDeleted === false ? message : undefined;
  }

  #own(args: Raw, channel: string, content: Content): Written {
    const { userId: user, botId } = this.#rules.bot;
    const threadTs = textOf(args, "thread_ts");
    const clientMsgId = textOf(args, "client_msg_id");
    return this.#add({
      channel,
      user,
      botId,
      content,
      ts: this.#nextTs(),
      files: [],
      threadTs,
      clientMsgId,
      metadata: args["metadata"],
    });
  }

  #add(message: Omit<SlackMessage, "shown" | "isEdited" | "isDeleted">): Written {
    const shown = shownBy(message.content);
    const written = { ...message, shown: shown === "" ? [] : [shown], isEdited: false, isDeleted: false };
    this.#all.set(`${message.channel} ${message.ts}`, written);
    return written;
  }

  #change(message: Written, content: Content): void {
    message.content = content;
    message.shown = [...message.shown, shownBy(content)];
  }

  #append(message: Written, more: string): ApiReply {
    const text = message.content.text + more;
    if (more.length > 12_000) return refuse("msg_too_long");
    this.#change(message, { text, blocks: [{ type: "markdown", text }] });
    return ok({ channel: message.channel, ts: message.ts });
  }

  #isStreaming(message: Written): boolean {
    return this.#rules.now() < (message.streamsUntil ?? 0);
  }

  #sent(message: Written): ApiReply {
    return ok({ channel: message.channel, ts: message.ts, message: asListed(message, false) });
  }

  #standing(channel: string): Written[] {
    return [...this.#all.values()]
      .filter((message) => message.channel === channel && !message.isDeleted)
      .toSorted((a, b) => Number(a.ts) - Number(b.ts));
  }

  #page(args: Raw, messages: readonly Written[]): ApiReply {
    const oldest = Number(textOf(args, "oldest") ?? 0);
    const latest = Number(textOf(args, "latest") ?? Number.POSITIVE_INFINITY);
    const inclusive = args["inclusive"] === true;
    const within = messages.filter(({ ts }) => {
      const at = Number(ts);
      return (at > oldest && at < latest) || (inclusive && (at === oldest || at === latest));
    });
    const most = this.#rules.limited ? 15 : 999;
    const size = Math.min(Number(args["limit"] ?? 100), most);
    const from = Number(textOf(args, "cursor") ?? 0);
    const page = within.slice(from, from + size);
    const hasMore = from + size < within.length;
    return ok({
      messages: page.map((message) => asListed(message, args["include_all_metadata"] === true)),
      has_more: hasMore,
      response_metadata: { next_cursor: hasMore ? String(from + size) : "" },
    });
  }

  #nextTs(): string {
    this.#count += 1;
    const ts = `${Math.floor(this.#rules.now() / 1000)}.${String(this.#count).padStart(6, "0")}`;
    // A test may have used this timestamp for a message.
    return this.all.some((message) => message.ts === ts) ? this.#nextTs() : ts;
  }
}

/** Returns a message in the format of history and events. */
function asListed(message: SlackMessage, withMetadata: boolean): Raw {
  const { ts, threadTs, user, botId, metadata, clientMsgId, files, content } = message;
  return {
    type: "message",
    subtype: files.length === 0 || botId !== undefined ? undefined : "file_share",
    ts,
    user,
    text: content.text,
    blocks: content.blocks,
    attachments: content.attachments,
    thread_ts: threadTs,
    bot_id: botId,
    client_msg_id: clientMsgId,
    files: files.length === 0 ? undefined : objectsOf(files),
    metadata: withMetadata && metadata !== undefined ? metadata : undefined,
  };
}
