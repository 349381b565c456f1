import { isRaw, type Raw } from "../raw.ts";
import { type Ack, ok, refusals } from "./reply.ts";
import type { Uploads } from "./uploads.ts";

/** A message from the bot. */
export interface WecomSent {
  /** The stream id of a reply. WeCom has no ids for other messages; they have the `req_id` of their frame. */
  readonly id: string;
  /** The conversation. */
  readonly chatId: string;
  readonly msgtype: string;
  /** All contents that people saw, in order. */
  readonly shown: string[];
  isFinished: boolean;
  /** The attachment. */
  readonly mediaId?: string | undefined;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A callback that can be responded to. */
interface Callback {
  readonly chatId: string;
  /** `message`, or the type of the event. */
  readonly type: string;
  at: number;
}

const MAX_CONTENT_BYTES = 20_480;
const MAX_ITEMS = 10;
/** Time limits for replies, for updates of a stream, and for responses to events, in milliseconds. */
const REPLY_MS = 86_400_000;
const STREAM_MS = 600_000;
const EVENT_MS = 5_000;
/** Maximum number of messages in one conversation within a minute. */
const PER_MINUTE = 30;
const mediaTypes: readonly string[] = ["file", "image", "voice", "video"];

export interface MessagesOptions {
  readonly uploads: Uploads;
  readonly now: () => number;
  readonly rateLimit: boolean;
  readonly chats: Iterable<string>;
}

/** The conversations with the bot. Source: document/path/101463. */
export class Messages {
  readonly sent: WecomSent[] = [];
  readonly #options: MessagesOptions;
  readonly #chats: Set<string>;
  readonly #callbacks = new Map<string, Callback>();

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#chats = new Set(options.chats);
  }

  /** Makes a callback known, so that it can be responded to. */
  expect(reqId: string, chatId: string, type: string): void {
    this.#chats.add(chatId);
    this.#callbacks.set(reqId, { chatId, type, at: this.#options.now() });
  }

  age(ms: number): void {
    for (const one of [...this.sent, ...this.#callbacks.values()]) one.at -= ms;
  }

  /** `aibot_respond_msg`. Only messages can be replied to, not events. */
  respond(reqId: string, body: Raw): Ack {
    const callback = this.#callbacks.get(reqId);
    if (callback?.type !== "message" || this.#isOlder(callback, REPLY_MS)) return refusals.reqId();
    const { chatId } = callback;
    switch (body["msgtype"]) {
      case "stream":
        return this.#stream(chatId, body);
      case "stream_with_template_card": {
        const card = body["template_card"] === undefined ? ok() : checkCard(body);
        return card.errcode === 0 ? this.#stream(chatId, body) : card;
      }
      case "template_card":
        return this.#add(reqId, chatId, body, checkCard(body));
      default:
        return this.#media(reqId, chatId, body);
    }
  }

  /** `aibot_send_msg`. A person has to write first. */
  send(reqId: string, body: Raw): Ack {
    const { chatid: chatId, msgtype } = body;
    if (typeof chatId !== "string" || !this.#chats.has(chatId)) return refusals.chat();
    if (msgtype === "template_card") return this.#add(reqId, chatId, body, checkCard(body));
    if (msgtype !== "markdown") return this.#media(reqId, chatId, body);
    const markdown = isRaw(body["markdown"]) ? body["markdown"] : {};
    return this.#add(reqId, chatId, body, checkContent(markdown["content"]), String(markdown["content"]));
  }

  /** `aibot_respond_welcome_msg`: within 5 seconds after a person opened the conversation. */
  welcome(reqId: string, body: Raw): Ack {
    const callback = this.#callbacks.get(reqId);
    if (callback?.type !== "enter_chat" || this.#isOlder(callback, EVENT_MS)) return refusals.reqId();
    if (body["msgtype"] === "template_card") return this.#add(reqId, callback.chatId, body, checkCard(body));
    const text = isRaw(body["text"]) ? body["text"] : {};
    if (body["msgtype"] !== "text") return refusals.msgtype();
    return this.#add(reqId, callback.chatId, body, checkContent(text["content"]), String(text["content"]));
  }

  /** `aibot_respond_update_msg`: within 5 seconds after a person clicked a button. */
  updateCard(reqId: string, body: Raw): Ack {
    const callback = this.#callbacks.get(reqId);
    if (callback?.type !== "template_card_event" || this.#isOlder(callback, EVENT_MS))
      return refusals.reqId();
    return body["response_type"] === "update_template_card"
      ? checkCard(body)
      : refusals.parameter("response_type");
  }

  /** A reply to a `response_url`. */
  reply(id: string, chatId: string, body: Raw): Ack {
    const markdown = isRaw(body["markdown"]) ? body["markdown"] : {};
    if (body["msgtype"] !== "markdown") return refusals.msgtype();
    return this.#add(id, chatId, body, checkContent(markdown["content"]), String(markdown["content"]));
  }

  #stream(chatId: string, body: Raw): Ack {
    const stream = isRaw(body["stream"]) ? body["stream"] : {};
    const { id, finish = false, content = "", msg_item: items } = stream;
    if (typeof id !== "string" || id === "") return refusals.parameter("stream.id");
    if (typeof finish !== "boolean") return refusals.parameter("stream.finish");
    const checked = checkContent(content);
    if (checked.errcode !== 0) return checked;
    if (items !== undefined && (!finish || !Array.isArray(items) || items.length > MAX_ITEMS))
      return refusals.parameter("stream.msg_item");
    const existing = this.sent.find((one) => one.id === id);
    if (existing === undefined) {
      const added = this.#add(id, chatId, body, ok(), String(content));
      const last = this.sent.at(-1);
      if (added.errcode === 0 && last !== undefined) last.isFinished = finish;
      return added;
    }
    if (existing.isFinished || existing.chatId !== chatId || this.#isOlder(existing, STREAM_MS))
      return refusals.streamEnded();
    existing.shown.push(String(content));
    existing.isFinished = finish;
    return ok();
  }

  #media(reqId: string, chatId: string, body: Raw): Ack {
    const type = String(body["msgtype"]);
    if (!mediaTypes.includes(type)) return refusals.msgtype();
    return this.#add(
      reqId,
      chatId,
      body,
      this.#options.uploads.isValid(type, body) ? ok() : refusals.mediaId(),
    );
  }

  #add(id: string, chatId: string, body: Raw, checked: Ack, text = ""): Ack {
    if (checked.errcode !== 0) return checked;
    const msgtype = String(body["msgtype"]);
    const now = this.#options.now();
    const recent = this.sent.filter((one) => one.chatId === chatId && now - one.at < 60_000);
    if (this.#options.rateLimit && recent.length >= PER_MINUTE) return refusals.rate();
    const content = body[msgtype];
    const mediaId =
      isRaw(content) && typeof content["media_id"] === "string" ? content["media_id"] : undefined;
    this.sent.push({ id, chatId, msgtype, shown: [text], isFinished: true, mediaId, at: now });
    return ok();
  }

  #isOlder({ at }: { readonly at: number }, ms: number): boolean {
    return this.#options.now() - at > ms;
  }
}

function checkContent(content: unknown): Ack {
  if (typeof content !== "string") return refusals.parameter("content");
  return Buffer.byteLength(content) > MAX_CONTENT_BYTES ? refusals.tooLong() : ok();
}

function checkCard(body: Raw): Ack {
  const card = body["template_card"];
  return isRaw(card) && typeof card["card_type"] === "string" ? ok() : refusals.parameter("template_card");
}
