import { isRaw, type Raw } from "../raw.ts";
import { checkMessage, pollIn, type SentFile, type SentPoll, VOICE_MESSAGE } from "./check-message.ts";
import { componentsV2, hasComponentsV2, wordsIn } from "./components.ts";
import { type ApiReply, done, ok, refusals } from "./reply.ts";
import { snowflakeAt } from "./snowflake.ts";
import { channelType, type DiscordUser, userPayload, type World } from "./world.ts";

/** A file attached to a message. */
export interface Attachment extends SentFile {
  readonly id: string;
  readonly voice?: boolean;
}

/** A stored message. */
export interface DiscordMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: DiscordUser;
  /** Milliseconds since the epoch. */
  timestamp: number;
  content: string;
  /** Every content so far. The last one is current. */
  readonly contents: string[];
  components: unknown;
  readonly attachments: readonly Attachment[];
  readonly poll?: SentPoll;
  /** The message that it replies to or forwards. */
  readonly reference?: Raw;
  readonly nonce?: unknown;
  flags: number;
  readonly allowedMentions?: unknown;
  /** Additional fields of the payload. */
  readonly more: Raw;
  deleted: boolean;
  /** The bot's reactions. */
  readonly reactions: Set<string>;
}

/** A message to add. */
export interface MessageToPlant {
  readonly id?: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly content?: string;
  /** Id of the message to which this message replies. */
  readonly replyTo?: string;
  readonly attachments?: readonly Attachment[];
  readonly more?: Raw;
}

/** Options for a message that the bot sends. */
interface Sending {
  readonly channelId: string;
  readonly body: Raw;
  readonly files: readonly SentFile[];
}

/** Lifetime of a nonce in milliseconds. Discord documents "some minutes". */
const nonceMs = 300_000;
/** Lifetime of a file's URL, in milliseconds. */
const addressMs = 86_400_000;
const mostListed = 100;

/** The messages of all channels. */
export class Messages {
  readonly #world: World;
  readonly #cdnUrl: () => string;
  readonly #happened: (type: string, data: Raw) => void;
  readonly all: Map<string, DiscordMessage> = new Map();
  /** Votes for each answer of a poll, by message id. */
  readonly votes: Map<string, readonly number[]> = new Map();
  readonly #ended = new Set<string>();

  /** @param happened sends an event about a message */
  constructor(world: World, cdnUrl: () => string, happened: (type: string, data: Raw) => void) {
    this.#world = world;
    this.#cdnUrl = cdnUrl;
    this.#happened = happened;
  }

  plant({ authorId, channelId, content = "", replyTo, more = {}, ...given }: MessageToPlant): DiscordMessage {
    const message: DiscordMessage = {
      id: given.id ?? this.#world.nextId(),
      channelId,
      author: this.#world.user(authorId),
      timestamp: this.#world.now(),
      content,
      contents: [content],
      components: [],
      attachments: given.attachments ?? [],
      reference: replyTo === undefined ? undefined : { type: 0, message_id: replyTo, channel_id: channelId },
      flags: 0,
      more,
      deleted: false,
      reactions: new Set(),
    };
    this.all.set(message.id, message);
    return message;
  }

  create({ channelId, body, files }: Sending): ApiReply {
    const refused = this.#refusedAt(channelId) ?? checkMessage(body, files, { isEdit: false });
    if (refused !== undefined) return refused;
    const isVoice = (Number(body["flags"] ?? 0) & VOICE_MESSAGE) !== 0;
    if (isVoice && this.#world.channels.get(channelId)?.forbidsVoice === true)
      return refusals.noVoiceMessages();
    const { nonce } = body;
    if (body["enforce_nonce"] === true && nonce !== undefined) {
      const before = this.#ofNonce(nonce);
      if (before !== undefined) return ok(this.payload(before));
    }
    const reference = isRaw(body["message_reference"]) ? body["message_reference"] : undefined;
    const isMissing = reference !== undefined && !this.#isThere(String(reference["message_id"]), channelId);
    if (isMissing && reference["fail_if_not_exists"] !== false)
      return refusals.invalidForm("message_reference", "Unknown message");
    const message = this.#keep({ channelId, body, files }, isMissing ? undefined : reference);
    this.#happened("MESSAGE_CREATE", this.event(message));
    return ok(this.payload(message));
  }

  /** Creates the placeholder of a deferred response, which is empty until it is edited. */
  createLoading(channelId: string): DiscordMessage {
    return this.#keep({ channelId, body: { content: "", flags: 128 }, files: [] }, undefined);
  }

  get(channelId: string, id: string): ApiReply {
    const message = this.#at(channelId, id);
    return message === undefined ? refusals.unknownMessage() : ok(this.payload(message));
  }

  /** Returns messages newest first, as Discord does. */
  list(channelId: string, query: URLSearchParams): ApiReply {
    const refused = this.#refusedAt(channelId);
    if (refused !== undefined) return refused;
    const limit = Number(query.get("limit") ?? 50);
    if (!Number.isInteger(limit) || limit < 1 || limit > mostListed)
      return refusals.invalidForm("limit", "int value should be between 1 and 100.");
    const after = query.get("after");
    const before = query.get("before");
    const listed = [...this.all.values()]
      .filter((one) => one.channelId === channelId && !one.deleted)
      .filter((one) => after === null || isLater(one.id, after))
      .filter((one) => before === null || isLater(before, one.id))
      .sort((a, b) => (isLater(a.id, b.id) ? 1 : -1));
    // Without an id, return the newest ones. After an id, return the oldest ones.
    const page = after === null ? listed.slice(-limit) : listed.slice(0, limit);
    return ok(page.toReversed().map((one) => this.payload(one)));
  }

  edit(channelId: string, id: string, body: Raw, files: readonly SentFile[] = []): ApiReply {
    const message = this.#at(channelId, id);
    if (message === undefined) return refusals.unknownMessage();
    if (message.author.id !== this.#world.bot.id) return refusals.notTheAuthor();
    const refused = checkMessage(body, files, { isEdit: true, isV2: hasComponentsV2(message.flags) });
    if (refused !== undefined) return refused;
    this.change(message, body);
    return ok(this.payload(message));
  }

  /** Changes a message. */
  change(message: DiscordMessage, body: Raw): void {
    if (hasComponentsV2(body["flags"])) message.flags |= componentsV2;
    if (body["components"] !== undefined) message.components = body["components"];
    if (typeof body["content"] === "string") message.content = body["content"];
    const isV2 = hasComponentsV2(message.flags);
    if (isV2) message.content = "";
    if (isV2 || typeof body["content"] === "string") message.contents.push(wordsIn(message));
    this.#happened("MESSAGE_UPDATE", this.event(message));
  }

  remove(channelId: string, id: string): ApiReply {
    const message = this.#at(channelId, id);
    if (message === undefined) return refusals.unknownMessage();
    if (message.author.id !== this.#world.bot.id) return refusals.missingAccess();
    message.deleted = true;
    this.#happened("MESSAGE_DELETE", { id, ...this.#placeOf(message) });
    return done;
  }

  /** Ends one of the bot's polls: `POST /channels/{id}/polls/{id}/expire`. */
  endPoll(channelId: string, id: string): ApiReply {
    const message = this.#at(channelId, id);
    if (message === undefined) return refusals.unknownMessage();
    if (message.poll === undefined || message.author.id !== this.#world.bot.id)
      return refusals.missingAccess();
    if (this.#ended.has(id)) return refusals.pollExpired();
    this.#ended.add(id);
    return ok(this.payload(message));
  }

  react(channelId: string, id: string, emoji: string, on: boolean): ApiReply {
    const message = this.#at(channelId, id);
    if (message === undefined) return refusals.unknownMessage();
    if (!/^\p{Extended_Pictographic}|^\w{2,32}:\d+$/u.test(emoji)) return refusals.unknownEmoji();
    if (on) message.reactions.add(emoji);
    else message.reactions.delete(emoji);
    return done;
  }

  /** Returns the file at a URL, unless the URL has expired. */
  file(url: URL): Attachment | undefined {
    const [, , id] = url.pathname.split("/").filter((step) => step !== "");
    const expires = Number.parseInt(url.searchParams.get("ex") ?? "0", 16) * 1000;
    if (expires <= this.#world.now()) return undefined;
    for (const message of this.all.values())
      for (const attachment of message.attachments) if (attachment.id === id) return attachment;
    return undefined;
  }

  /** Returns the message as the API does. Source: `MessageResponse` of the OpenAPI document. */
  payload(message: DiscordMessage): Raw {
    return {
      id: message.id,
      channel_id: message.channelId,
      author: userPayload(message.author),
      type: message.reference === undefined || message.reference["type"] === 1 ? 0 : 19,
      content: message.content,
      timestamp: new Date(message.timestamp).toISOString(),
      edited_timestamp: message.contents.length === 1 ? null : new Date(this.#world.now()).toISOString(),
      tts: false,
      mention_everyone: false,
      pinned: false,
      flags: message.flags,
      mentions: this.#mentioned(message.content).map((id) => userPayload(this.#world.user(id))),
      mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id),
      embeds: [],
      attachments: message.attachments.map((one) => this.#attachment(message, one)),
      components: message.components ?? [],
      message_reference: message.reference,
      ...this.#answeredBy(message),
      ...message.more,
      ...(message.poll === undefined ? {} : { poll: this.#standing(message.id, message.poll) }),
    };
  }

  /** A reply contains the message that it replies to, or `null` if that message was deleted. */
  #answeredBy({ id, reference }: DiscordMessage): Raw {
    if (reference === undefined || reference["type"] === 1 || reference["message_id"] === id) return {};
    const answered = this.all.get(String(reference["message_id"]));
    if (answered === undefined || answered.deleted) return { referenced_message: null };
    return { referenced_message: { ...this.payload(answered), referenced_message: undefined } };
  }

  /** Returns a poll with its votes. */
  #standing(id: string, { question, options, multiple }: SentPoll): Raw {
    const counts = this.votes.get(id) ?? [];
    return {
      question: { text: question },
      answers: options.map((text, index) => ({ answer_id: index + 1, poll_media: { text } })),
      expiry: new Date(this.#world.now()).toISOString(),
      allow_multiselect: multiple,
      layout_type: 1,
      results: {
        is_finalized: this.#ended.has(id),
        answer_counts: counts.flatMap((count, index) =>
          count === 0 ? [] : [{ id: index + 1, count, me_voted: false }],
        ),
      },
    };
  }

  /** Returns a message in the format of events, which have more fields than the API. */
  event(message: DiscordMessage): Raw {
    const { guildId } = this.#world.channels.get(message.channelId) ?? {};
    const roles = this.#world.guilds.get(guildId ?? "")?.members.get(message.author.id) ?? [];
    return {
      ...this.payload(message),
      ...this.#placeOf(message),
      ...(guildId === undefined
        ? {}
        : { member: { roles, flags: 0, joined_at: null, mute: false, deaf: false } }),
      nonce: message.nonce,
    };
  }

  #placeOf({ channelId }: DiscordMessage): Raw {
    const { guildId } = this.#world.channels.get(channelId) ?? {};
    return { channel_id: channelId, guild_id: guildId };
  }

  #keep({ channelId, body, files }: Sending, reference: Raw | undefined): DiscordMessage {
    const poll = pollIn(body);
    const content = String(body["content"] ?? "");
    const components = body["components"] ?? [];
    const message: DiscordMessage = {
      ...this.plant({ channelId, authorId: this.#world.bot.id, content }),
      contents: [wordsIn({ content, components })],
      components,
      attachments: files.map((file) => ({ ...file, id: this.#world.nextId() })),
      ...(reference === undefined ? {} : { reference: { type: 0, ...reference, channel_id: channelId } }),
      nonce: body["nonce"],
      allowedMentions: body["allowed_mentions"],
      poll,
      flags: Number(body["flags"] ?? 0),
    };
    this.all.set(message.id, message);
    return message;
  }

  #attachment(message: DiscordMessage, { id, name, mimeType, content, voice }: Attachment): Raw {
    const expires = Math.floor((this.#world.now() + addressMs) / 1000).toString(16);
    const path = `attachments/${message.channelId}/${id}/${encodeURIComponent(name)}`;
    const url = `${this.#cdnUrl()}/${path}?ex=${expires}&is=${expires}&hm=00`;
    return {
      id,
      filename: name,
      content_type: mimeType,
      size: content.byteLength,
      url,
      proxy_url: url,
      ...(voice === true ? { duration_secs: 1.5, waveform: "AAA=" } : {}),
    };
  }

  #mentioned(content: string): string[] {
    return [...new Set([...content.matchAll(/<@!?(\d+)>/g)].map(([, id = ""]) => id))];
  }

  #refusedAt(channelId: string): ApiReply | undefined {
    const channel = this.#world.channels.get(channelId);
    if (channel === undefined) return refusals.unknownChannel();
    if (channel.isHidden === true) return refusals.missingAccess();
    return channel.type === channelType.forum ? refusals.noTextChannel() : undefined;
  }

  #at(channelId: string, id: string): DiscordMessage | undefined {
    return this.#isThere(id, channelId) ? this.all.get(id) : undefined;
  }

  #isThere(id: string, channelId: string): boolean {
    const message = this.all.get(id);
    return message !== undefined && !message.deleted && message.channelId === channelId;
  }

  #ofNonce(nonce: unknown): DiscordMessage | undefined {
    const since = this.#world.now() - nonceMs;
    return [...this.all.values()].find((one) => one.nonce === nonce && one.timestamp >= since);
  }
}

/** Returns true if an id is later than another. Ids that are not numbers are later than all others. */
function isLater(id: string, than: string): boolean {
  const number = (text: string): bigint => (/^\d+$/.test(text) ? BigInt(text) : snowflakeAt(4e12));
  return number(id) > number(than);
}
