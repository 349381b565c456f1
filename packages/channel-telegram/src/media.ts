import {
  type Capabilities,
  ChannelError,
  createFetchedMedia,
  type FetchedMedia,
  isPayload,
  type MediaPart,
  type MediaRef,
  readMedia,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import type { Message } from "grammy/types";
import type { TelegramApi } from "./api.ts";
import { limits } from "./limits.ts";

/** Sources: sendPhoto, sendAudio, sendVoice, sendVideo and sendDocument in the Bot API reference. */
export const sendMedia: NonNullable<Capabilities["sendMedia"]> = {
  image: { maxBytes: limits.photoBytes, mimeTypes: ["image/jpeg", "image/png", "image/webp"] },
  audio: {
    maxBytes: limits.uploadBytes,
    mimeTypes: ["audio/mpeg", "audio/mp4", "audio/x-m4a", "audio/ogg"],
  },
  video: { maxBytes: limits.uploadBytes, mimeTypes: ["video/mp4"] },
  file: { maxBytes: limits.uploadBytes },
};

/** Destination fields that all send methods have in common. */
export interface Target {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly reply_parameters?: { readonly message_id: number; readonly allow_sending_without_reply: true };
}

/** Uploads an attachment with the method for its type. */
export async function sendAttachment(
  api: TelegramApi,
  target: Target,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<Message> {
  const bytes = await readMedia(part, sendMedia, openMedia);
  // grammY writes the name into a header without escaping it.
  const file = await api.file(bytes, part.name.replace(/["\r\n;]/g, "_"));
  const what = "sending an attachment";
  const call = { what, write: true, signal, timeoutMs: limits.uploadTimeoutMs };
  return api.call<Message>(call, (raw) => {
    switch (uploadAs(part)) {
      case "photo":
        return raw.sendPhoto({ ...target, photo: file });
      case "voice":
        return raw.sendVoice({ ...target, voice: file });
      case "audio":
        return raw.sendAudio({ ...target, audio: file });
      case "video":
        return raw.sendVideo({ ...target, video: file });
      case "document":
        return raw.sendDocument({ ...target, document: file });
    }
  });
}

type UploadKind = "photo" | "voice" | "audio" | "video" | "document";

function uploadAs({ kind, voice, mimeType }: MediaPart): UploadKind {
  if (kind === "image") return "photo";
  if (kind === "video") return "video";
  if (kind === "file") return "document";
  // `sendAudio` rejects Ogg files that are not Opus voice messages.
  return voice === true || mimeType === "audio/ogg" ? "voice" : "audio";
}

/**
 * Downloads an attachment of a received message.
 *
 * @throws ChannelError `invalid` if this channel did not create the reference, `not_found` if the file no longer
 * exists, `too_large` if bots may not fetch it
 */
export async function fetchMedia(
  api: TelegramApi,
  ref: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const fileId = isPayload(ref.ref) ? textAt(ref.ref, "fileId") : undefined;
  if (fileId === undefined)
    throw new ChannelError("invalid", "Telegram: not a file reference of this channel");
  const call = { what: "looking up a file", write: false, signal };
  const file = await api.call(call, (raw) => raw.getFile({ file_id: fileId })).catch(throwNotFound);
  if (file.file_path === undefined)
    throw new ChannelError("too_large", `Telegram: bots can download at most ${limits.mediaBytes} bytes`);
  const { body, headers } = await api.download(file.file_path, signal);
  if (body === null) throw new ChannelError("transient", "Telegram: the file download had no body");
  const fetched = createFetchedMedia({ body, headers }, ref, limits.mediaBytes);
  return {
    size: file.file_size,
    ...fetched,
    // Telegram serves most files as `application/octet-stream`.
    mimeType: fetched.mimeType === octets ? ref.mimeType : fetched.mimeType,
  };
}

const octets = "application/octet-stream";

/** Telegram responds to an unknown file id with a generic 400. */
function throwNotFound(error: unknown): never {
  if (error instanceof ChannelError && error.code === "invalid")
    throw new ChannelError("not_found", error.message, { cause: error });
  throw error;
}
