import { isRaw, type Raw } from "../raw.ts";
import { checkMessage } from "./check-message.ts";
import type { MediaStore } from "./media.ts";
import { createMessageId } from "./payloads.ts";
import { type GraphReply, refuse } from "./reply.ts";

/** A message that the business sent. */
export interface WhatsAppMessage {
  readonly id: string;
  /** The phone number, business-scoped user id or group id of the recipient. */
  readonly to: string;
  readonly isGroup: boolean;
  /** The request body. */
  readonly body: Raw;
  /** The text that people see. `[image]` and so on for media. */
  readonly text: string;
  /** The `biz_opaque_callback_data`. */
  readonly callbackData: string | undefined;
}

interface MessageRules {
  readonly media: MediaStore;
  /** Recipients that a test number may write to. Undefined: everyone. */
  readonly allowed: readonly string[] | undefined;
  readonly own: string;
}

/** The messages of a number, and the endpoint that sends them. */
export class MessageStore {
  readonly #rules: MessageRules;
  readonly #sent: WhatsAppMessage[] = [];
  /** Ids of messages from people. */
  readonly #received = new Set<string>();
  /** Reactions of the business by message id. */
  readonly reactions: Map<string, string> = new Map();
  /** Conversations in which the 24-hour window is over, and how the platform reports it. */
  readonly closed: Map<string, "at_once" | "later"> = new Map();
  /** Messages for which the typing indicator was shown. */
  readonly typing: string[] = [];

  constructor(rules: MessageRules) {
    this.#rules = rules;
  }

  get sent(): readonly WhatsAppMessage[] {
    return this.#sent;
  }

  /** Remembers the messages of a webhook, so that the business can react to them. */
  take(payload: unknown): void {
    for (const message of findMessages(payload)) this.#received.add(String(message["id"]));
  }

  /** Answers `POST …/messages`. `accepted` is the message, unless it was refused or is a reaction. */
  post(body: Raw): { readonly reply: GraphReply; readonly accepted?: WhatsAppMessage } {
    if (body["status"] !== undefined) return { reply: this.#markAsRead(body) };
    const refused = checkMessage(body) ?? this.#checkRecipient(body) ?? this.#checkMedia(body);
    if (refused !== undefined) return { reply: refused };
    return body["type"] === "reaction" ? { reply: this.#react(body) } : this.#accept(body);
  }

  #markAsRead(body: Raw): GraphReply {
    const unknown = Object.keys(body).find(
      (name) => !["messaging_product", "status", "message_id", "typing_indicator"].includes(name),
    );
    if (unknown !== undefined) return refuse(100, `Unexpected key "${unknown}" on param "".`);
    const id = String(body["message_id"]);
    if (body["status"] !== "read" || !this.#received.has(id))
      return refuse(131009, "message_id is not valid");
    const indicator = body["typing_indicator"];
    if (indicator !== undefined && !(isRaw(indicator) && indicator["type"] === "text"))
      return refuse(131009, "typing_indicator.type must be text");
    if (indicator !== undefined) this.typing.push(id);
    return { status: 200, body: { success: true } };
  }

  #checkRecipient(body: Raw): GraphReply | undefined {
    const to = recipientOf(body);
    const { allowed, own } = this.#rules;
    if (to === own) return refuse(131021, "The recipient is the sender.");
    if (allowed !== undefined && !allowed.includes(to))
      return refuse(131030, "Recipient phone number not in allowed list: Add it and try again.");
    const isClosed = this.closed.get(to) === "at_once";
    const details = "More than 24 hours have passed since the customer last replied to this number.";
    return isClosed ? refuse(131047, details) : undefined;
  }

  #checkMedia(body: Raw): GraphReply | undefined {
    const type = String(body["type"]);
    const content = body[type];
    const id = isRaw(content) ? content["id"] : undefined;
    return ["image", "audio", "video", "document", "sticker"].includes(type) && typeof id === "string"
      ? this.#rules.media.check(type, id)
      : undefined;
  }

  #react(body: Raw): GraphReply {
    const reaction = isRaw(body["reaction"]) ? body["reaction"] : {};
    const [id, emoji] = [String(reaction["message_id"]), String(reaction["emoji"])];
    if (!this.#received.has(id) && !this.#sent.some((message) => message.id === id))
      return refuse(131009, "message_id is not valid");
    if (emoji !== "" && !/\p{Extended_Pictographic}/u.test(emoji))
      return refuse(131009, "emoji is not valid");
    if (emoji === "") this.reactions.delete(id);
    else this.reactions.set(id, emoji);
    return acceptedReply(createMessageId(), recipientOf(body));
  }

  #accept(body: Raw): { readonly reply: GraphReply; readonly accepted: WhatsAppMessage } {
    const callbackData = body["biz_opaque_callback_data"];
    const accepted = {
      id: createMessageId(),
      to: recipientOf(body),
      isGroup: body["recipient_type"] === "group",
      body,
      text: shownText(body),
      callbackData: typeof callbackData === "string" ? callbackData : undefined,
    };
    this.#sent.push(accepted);
    return { reply: acceptedReply(accepted.id, accepted.to), accepted };
  }
}

function recipientOf(body: Raw): string {
  const { to, recipient } = body;
  return typeof to === "string" ? to.replace(/^\+/, "") : String(recipient);
}

function acceptedReply(id: string, to: string): GraphReply {
  const contacts = [{ input: to, wa_id: to }];
  return { status: 200, body: { messaging_product: "whatsapp", contacts, messages: [{ id }] } };
}

function shownText(body: Raw): string {
  const { type } = body;
  const content = body[String(type)];
  if (!isRaw(content)) return "";
  const text = type === "interactive" && isRaw(content["body"]) ? content["body"]["text"] : content["body"];
  return typeof text === "string" ? text : `[${String(type)}]`;
}

function findMessages(payload: unknown): readonly Raw[] {
  if (!isRaw(payload)) return [];
  return objects(payload["entry"])
    .flatMap((entry) => objects(entry["changes"]))
    .flatMap((change) => (isRaw(change["value"]) ? objects(change["value"]["messages"]) : []));
}

function objects(value: unknown): readonly Raw[] {
  return Array.isArray(value) ? value.filter(isRaw) : [];
}
