import type { Raw } from "../raw.ts";

/** The person who writes by default. */
export const person = { id: "16505551234", name: "Sheena Nelson" } as const;

/** The business number, by default. */
export const businessNumber = "15550783881";

export interface PayloadOptions {
  /** Default: a new generated id. */
  readonly id?: string;
  /** Default: {@link person}. */
  readonly from?: { readonly id: string; readonly name?: string };
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number;
  readonly phoneNumberId?: string;
  /** Other fields of the message, for instance `context` or `group_id`. */
  readonly fields?: Raw;
}

export const defaultPhoneNumberId = "106540352242922";

let count = 0;

/** Returns a new message id in WhatsApp's format. */
export function createMessageId(): string {
  count += 1;
  const unique = `${process.pid} ${count} ${Math.random().toString(36).slice(2)}`;
  return `wamid.${Buffer.from(unique).toString("base64")}`;
}

/** Wraps a value as a webhook of one change. */
export function changePayload(value: Raw, options: { field?: string; phoneNumberId?: string } = {}): Raw {
  const { field = "messages", phoneNumberId = defaultPhoneNumberId } = options;
  const metadata = { display_phone_number: businessNumber, phone_number_id: phoneNumberId };
  return {
    object: "whatsapp_business_account",
    entry: [
      {
        id: "419561257915477",
        changes: [{ value: { messaging_product: "whatsapp", metadata, ...value }, field }],
      },
    ],
  };
}

/** Returns the webhook of a message from a person. */
export function messagePayload(content: Raw, options: PayloadOptions = {}): Raw {
  const { id = createMessageId(), from = person, at = Date.now(), phoneNumberId, fields } = options;
  const contacts = [{ profile: { name: from.name ?? from.id }, wa_id: from.id }];
  const message = { from: from.id, id, timestamp: String(Math.floor(at / 1000)), ...content, ...fields };
  return changePayload(
    { contacts, messages: [message] },
    phoneNumberId === undefined ? {} : { phoneNumberId },
  );
}

/** Returns the webhook of a text message. */
export function textMessage(text: string, options: PayloadOptions = {}): Raw {
  return messagePayload({ type: "text", text: { body: text } }, options);
}

/** Returns the webhook of a person who chose a button, or a row of a list. */
export function buttonReply(
  reply: { readonly id: string; readonly title: string },
  about: string,
  options: PayloadOptions & { readonly isRow?: boolean } = {},
): Raw {
  const kind = options.isRow === true ? "list_reply" : "button_reply";
  const content = {
    context: { from: businessNumber, id: about },
    type: "interactive",
    interactive: { type: kind, [kind]: reply },
  };
  return messagePayload(content, options);
}

/** Returns the webhook of a message that a person sent from the WhatsApp Business app with the bot's number. */
export function messageEcho(text: string, options: PayloadOptions = {}): Raw {
  const { id = createMessageId(), from = person, at = Date.now(), fields } = options;
  const echo = {
    from: businessNumber,
    to: from.id,
    id,
    timestamp: String(Math.floor(at / 1000)),
    type: "text",
    text: { body: text },
    ...fields,
  };
  return changePayload({ message_echoes: [echo] }, { field: "smb_message_echoes" });
}

export interface StatusOptions {
  readonly id: string;
  readonly status: "sent" | "delivered" | "read" | "failed";
  readonly to: string;
  readonly groupId?: string;
  /** The `biz_opaque_callback_data` of the message. */
  readonly callbackData?: string;
  readonly errors?: readonly Raw[];
  readonly at?: number;
  readonly phoneNumberId?: string;
}

/** Returns the webhook of a message status. */
export function statusPayload(options: StatusOptions): Raw {
  const { id, status, to, groupId, callbackData, errors, at = Date.now(), phoneNumberId } = options;
  const entry: Raw = {
    id,
    status,
    timestamp: String(Math.floor(at / 1000)),
    recipient_id: to,
    group_id: groupId,
    biz_opaque_callback_data: callbackData,
    errors,
  };
  return changePayload({ statuses: [entry] }, phoneNumberId === undefined ? {} : { phoneNumberId });
}
