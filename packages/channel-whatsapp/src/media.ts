import {
  type Capabilities,
  ChannelError,
  createFetchedMedia,
  type FetchedMedia,
  isChannelError,
  isOpus,
  isPayload,
  type MediaPart,
  type MediaRef,
  readMedia,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import type { MessageContent, WhatsAppApi } from "./api.ts";
import { limits } from "./limits.ts";

/** Source: "Supported media types" of the Cloud API. A document can have any type. */
export const sendMedia: NonNullable<Capabilities["sendMedia"]> = {
  image: { maxBytes: limits.imageBytes, mimeTypes: ["image/jpeg", "image/png"] },
  audio: {
    maxBytes: limits.audioBytes,
    mimeTypes: ["audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg"],
  },
  video: { maxBytes: limits.videoBytes, mimeTypes: ["video/mp4", "video/3gpp"] },
  file: { maxBytes: limits.documentBytes },
};

/** Uploads an attachment and returns the content of the message that shows it. */
export async function uploadPart(
  api: WhatsAppApi,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<MessageContent> {
  const bytes = await readMedia(part, sendMedia, openMedia);
  const name = part.name.slice(0, limits.fileNameLength).toWellFormed();
  const id = await api.upload({ bytes, mimeType: part.mimeType, name }, signal);
  if (part.kind === "file") return { type: "document", document: { id, filename: name } };
  // WhatsApp shows only Opus as a voice message.
  if (part.kind === "audio" && part.voice === true && isOpus(bytes))
    return { type: "audio", audio: { id, voice: true } };
  return { type: part.kind, [part.kind]: { id } };
}

/**
 * Downloads an attachment of a received message. Its address is looked up first and is valid for five minutes.
 *
 * @throws ChannelError `invalid` if this channel did not create the reference or the address is not Meta's, `not_found`
 * if the file no longer exists, `too_large`
 */
export async function fetchMedia(
  api: WhatsAppApi,
  apiBaseUrl: string,
  ref: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const id = isPayload(ref.ref) ? textAt(ref.ref, "id") : undefined;
  if (id === undefined || !/^\d{1,40}$/.test(id))
    throw new ChannelError("invalid", "WhatsApp: not an attachment reference of this channel");
  const media = await api.read("looking up an attachment", id, {}, signal).catch(throwNotFound);
  const url = parseMediaUrl(textAt(media, "url") ?? "", apiBaseUrl);
  const { body, headers } = await api.download(url, signal);
  if (body === null) throw new ChannelError("transient", "WhatsApp: the download had no body");
  return createFetchedMedia({ body, headers }, ref, limits.mediaBytes);
}

/** Returns the URL if Meta serves files there. The access token must not be sent to other hosts. */
function parseMediaUrl(text: string, apiBaseUrl: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isMetas =
    url?.protocol === "https:" && url.port === "" && /^(?:[\w-]+\.)*fbsbx\.com$/.test(url.hostname);
  if (url === undefined || !(isMetas || url.origin === new URL(apiBaseUrl).origin))
    throw new ChannelError("invalid", "WhatsApp: the attachment is not on a host of Meta");
  return url;
}

/** An unknown media id is refused as an invalid parameter. */
function throwNotFound(error: unknown): never {
  if (isChannelError(error) && error.code === "invalid")
    throw new ChannelError("not_found", error.message, { platformCode: error.platformCode });
  throw error;
}
