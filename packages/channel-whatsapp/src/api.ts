import {
  type ChannelContext,
  ChannelError,
  createRequests,
  encodePathSegment,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { isUserId, type WhatsAppAddress } from "./address.ts";
import type { WhatsAppConfig } from "./config.ts";
import { readError } from "./errors.ts";
import { limits } from "./limits.ts";

/** The fields of a message that depend on its content: `type`, and the field named after the type. */
export type MessageContent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A file to upload. */
interface Upload {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mimeType: string;
  readonly name: string;
}

/** The requests to the Cloud API. All methods throw only `ChannelError`. */
export interface WhatsAppApi {
  /** Sends a message. `key` comes back with its statuses. Returns its id. */
  send(
    to: WhatsAppAddress,
    content: MessageContent,
    options: { readonly key: string; readonly replyTo?: string | undefined; readonly signal: AbortSignal },
  ): Promise<string>;
  /** Adds, replaces or removes the reaction to a message. An empty `emoji` removes it. */
  react(to: WhatsAppAddress, messageId: string, emoji: string, signal: AbortSignal): Promise<void>;
  /** Marks a message as read and shows the typing indicator. */
  showTyping(messageId: string, signal: AbortSignal): Promise<void>;
  /** Uploads a file and returns its id. */
  upload(file: Upload, signal: AbortSignal): Promise<string>;
  /** Reads fields of the phone number, a media object or the access token. */
  read(
    what: string,
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Payload>;
  /** Opens a file of a person. */
  download(url: URL, signal: AbortSignal): Promise<Response>;
}

export function createApi(context: ChannelContext<WhatsAppConfig>): WhatsAppApi {
  const { accessToken, phoneNumberId, apiBaseUrl } = context.config;
  const requests = createRequests({
    ...context,
    platform: "WhatsApp",
    credentials: ["accessToken"],
    headers: () => ({ authorization: `Bearer ${accessToken}` }),
    readError,
    timeoutMs: limits.requestTimeoutMs,
    rateWaitMs: limits.rateWaitMs,
  });
  const messagesUrl = `${apiBaseUrl}/${phoneNumberId}/messages`;
  const product = { messaging_product: "whatsapp" };

  return {
    async send(to, content, { key, replyTo, signal }) {
      const what = "sending a message";
      const body = {
        ...product,
        ...recipientFields(to),
        ...content,
        ...(replyTo !== undefined && { context: { message_id: replyTo } }),
        biz_opaque_callback_data: key,
      };
      const answer = await requests.json({ what, url: messagesUrl, body, signal });
      const [message] = objectsAt(answer, "messages");
      const id = message && textAt(message, "id");
      if (id === undefined)
        throw new ChannelError("unknown_outcome", `WhatsApp: ${what}: the response contains no message id`);
      return id;
    },

    async react(to, messageId, emoji, signal) {
      const reaction = { type: "reaction", reaction: { message_id: messageId, emoji } };
      const body = { ...product, ...recipientFields(to), ...reaction };
      // A repeated reaction has no further effect.
      await requests.json({ what: "reacting", url: messagesUrl, body, write: false, signal });
    },

    async showTyping(messageId, signal) {
      const body = { ...product, status: "read", message_id: messageId, typing_indicator: { type: "text" } };
      await requests.json({
        what: "showing the typing indicator",
        url: messagesUrl,
        body,
        write: false,
        signal,
      });
    },

    async upload({ bytes, mimeType, name }, signal) {
      const what = "uploading an attachment";
      const body = new FormData();
      body.set("messaging_product", "whatsapp");
      body.set("type", mimeType);
      body.set("file", new File([bytes], name, { type: mimeType }));
      const url = `${apiBaseUrl}/${phoneNumberId}/media`;
      // An upload is not visible to anyone, so it can be repeated.
      const upload = { what, url, body, write: false, signal, timeoutMs: limits.uploadTimeoutMs };
      const id = textAt(await requests.json(upload), "id");
      if (id === undefined)
        throw new ChannelError("transient", `WhatsApp: ${what}: the response contains no id`);
      return id;
    },

    async read(what, path, query, signal) {
      const url = new URL(`${apiBaseUrl}/${encodePathSegment(path)}`);
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return requests.json({ what, url, signal });
    },

    download: (url, signal) => requests.open({ what: "downloading an attachment", url, signal }),
  };
}

function recipientFields({ to, isGroup }: WhatsAppAddress): Readonly<Record<string, string>> {
  if (isGroup === true) return { recipient_type: "group", to };
  return { recipient_type: "individual", ...(isUserId(to) ? { recipient: to } : { to }) };
}
