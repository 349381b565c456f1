import { isRaw, type Raw } from "../raw.ts";
import { type GraphReply, refuse } from "./reply.ts";

/** Maximum lengths in UTF-16 code units. Sources: the pages of text, reply button and list messages. */
const MAX = {
  text: 4_096,
  body: 1_024,
  title: 20,
  buttonId: 256,
  buttons: 3,
  rowTitle: 24,
  rowId: 200,
  rowDescription: 72,
  rows: 10,
  caption: 1_024,
  filename: 240,
  callbackData: 512,
};

const MEDIA = ["image", "audio", "video", "document", "sticker"] as const;
const TYPES: readonly string[] = ["text", "interactive", "reaction", ...MEDIA];

/** Fields of every message, with and without Meta's OpenAPI document. */
const COMMON = [
  "messaging_product",
  "recipient_type",
  "to",
  "recipient",
  "type",
  "context",
  "biz_opaque_callback_data",
];

/** Returns the refusal of a message that the Cloud API does not accept. Unknown fields are errors. */
export function checkMessage(message: Raw): GraphReply | undefined {
  return new MessageCheck().run(message);
}

/** Thrown within a check and returned as the reply. */
class Refusal extends Error {
  readonly reply: GraphReply;

  constructor(reply: GraphReply) {
    super("refused");
    this.reply = reply;
  }
}

class MessageCheck {
  run(message: Raw): GraphReply | undefined {
    try {
      this.#message(message);
      return undefined;
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  }

  #message(message: Raw): void {
    const type = this.#text(message, "type", 40);
    if (!TYPES.includes(type)) this.#fail(131051, `type ${type} is not supported`);
    this.#known(message, [...COMMON, type], "");
    if (message["messaging_product"] !== "whatsapp") this.#fail(100, "messaging_product must be whatsapp");
    this.#recipient(message);
    if (message["context"] !== undefined) {
      const context = this.#object(message, "context");
      this.#known(context, ["message_id"], "context");
      this.#text(context, "message_id", 512);
    }
    if (message["biz_opaque_callback_data"] !== undefined)
      this.#text(message, "biz_opaque_callback_data", MAX.callbackData);
    const content = this.#object(message, type);
    if (type === "text") this.#textMessage(content);
    else if (type === "reaction") this.#reaction(content);
    else if (type === "interactive") this.#interactive(content);
    else this.#media(type, content);
  }

  #recipient(message: Raw): void {
    const kind = message["recipient_type"] ?? "individual";
    if (kind !== "individual" && kind !== "group")
      this.#fail(100, "recipient_type must be individual or group");
    const [to, recipient] = [message["to"], message["recipient"]];
    if (typeof to !== "string" && typeof recipient !== "string")
      this.#fail(100, "The parameter to is required.");
    if (kind === "individual" && typeof to === "string" && !/^\+?\d{5,20}$/.test(to))
      this.#fail(100, "to must be a phone number");
    if (typeof recipient === "string" && !/^[A-Z]{2}\.[A-Za-z0-9.]+$/.test(recipient))
      this.#fail(100, "recipient must be a business-scoped user id");
  }

  #textMessage(content: Raw): void {
    this.#known(content, ["body", "preview_url"], "text");
    this.#text(content, "body", MAX.text);
  }

  #reaction(content: Raw): void {
    this.#known(content, ["message_id", "emoji"], "reaction");
    this.#text(content, "message_id", 512);
    if (typeof content["emoji"] !== "string") this.#fail(131008, "emoji is missing");
  }

  #media(type: string, content: Raw): void {
    const named = type === "document" ? ["filename"] : [];
    const captioned = type === "audio" || type === "sticker" ? [] : ["caption"];
    const voiced = type === "audio" ? ["voice"] : [];
    this.#known(content, ["id", "link", ...named, ...captioned, ...voiced], type);
    if (content["link"] === undefined) this.#text(content, "id", 100);
    if (content["caption"] !== undefined) this.#text(content, "caption", MAX.caption);
    if (content["filename"] !== undefined) this.#text(content, "filename", MAX.filename);
  }

  #interactive(content: Raw): void {
    this.#known(content, ["type", "header", "body", "footer", "action"], "interactive");
    const body = this.#object(content, "body");
    this.#known(body, ["text"], "interactive.body");
    this.#text(body, "text", MAX.body);
    const action = this.#object(content, "action");
    if (content["type"] === "button") this.#buttons(action);
    else if (content["type"] === "list") this.#list(action);
    else this.#fail(131009, "interactive.type is not supported");
  }

  #buttons(action: Raw): void {
    this.#known(action, ["buttons"], "interactive.action");
    const buttons = this.#elements(action, "buttons", MAX.buttons);
    const replies = buttons.map((button) => {
      this.#known(button, ["type", "reply"], "button");
      if (button["type"] !== "reply") this.#fail(131009, "a button's type must be reply");
      const reply = this.#object(button, "reply");
      this.#known(reply, ["id", "title"], "button.reply");
      return [this.#id(reply, MAX.buttonId), this.#text(reply, "title", MAX.title)] as const;
    });
    this.#unique(replies.map(([id]) => id));
    this.#unique(replies.map(([, title]) => title));
  }

  #list(action: Raw): void {
    this.#known(action, ["button", "sections"], "interactive.action");
    this.#text(action, "button", MAX.title);
    const sections = this.#elements(action, "sections", 10);
    const rows = sections.flatMap((section) => {
      this.#known(section, ["title", "rows"], "section");
      if (sections.length > 1) this.#text(section, "title", MAX.rowTitle);
      return this.#elements(section, "rows", MAX.rows);
    });
    if (rows.length > MAX.rows) this.#fail(131009, `a list can have at most ${MAX.rows} rows`);
    const ids = rows.map((row) => {
      this.#known(row, ["id", "title", "description"], "row");
      this.#text(row, "title", MAX.rowTitle);
      if (row["description"] !== undefined) this.#text(row, "description", MAX.rowDescription);
      return this.#id(row, MAX.rowId);
    });
    this.#unique(ids);
  }

  #id(payload: Raw, max: number): string {
    const id = this.#text(payload, "id", max);
    if (id !== id.trim()) this.#fail(131009, "an id must not begin or end with a space");
    return id;
  }

  #unique(values: readonly string[]): void {
    if (new Set(values).size !== values.length) this.#fail(131009, "ids and titles must be unique");
  }

  #known(payload: Raw, names: readonly string[], where: string): void {
    for (const name of Object.keys(payload))
      if (!names.includes(name)) this.#fail(100, `Unexpected key "${name}" on param "${where}".`);
  }

  #object(payload: Raw, name: string): Raw {
    const value = payload[name];
    if (isRaw(value)) return value;
    return this.#fail(131008, `${name} is missing`);
  }

  #elements(payload: Raw, name: string, max: number): readonly Raw[] {
    const value = payload[name];
    if (!Array.isArray(value) || value.length === 0 || !value.every(isRaw))
      return this.#fail(131008, `${name} is missing`);
    return value.length > max ? this.#fail(131009, `${name} can have at most ${max} elements`) : value;
  }

  #text(payload: Raw, name: string, max: number): string {
    const value = payload[name];
    if (typeof value !== "string" || value === "") return this.#fail(131008, `${name} is missing`);
    if (value.length > max) return this.#fail(100, `Param ${name} must be at most ${max} characters long.`);
    return value;
  }

  #fail(code: Parameters<typeof refuse>[0], details: string): never {
    throw new Refusal(refuse(code, details));
  }
}
