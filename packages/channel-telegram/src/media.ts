import {
  type Capabilities,
  ChannelError,
  type FetchedMedia,
  fetchedMedia,
  isChannelError,
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

/** Sources: sendPhoto, sendAudio, sendVoice, sendVideo and sendDocument of the Bot API's reference. */
export const sendMedia: NonNullable<Capabilities["sendMedia"]> = {
  image: { maxBytes: limits.photoBytes, mimeTypes: ["image/jpeg", "image/png", "image/webp"] },
  audio: {
    maxBytes: limits.uploadBytes,
    mimeTypes: ["audio/mpeg", "audio/mp4", "audio/x-m4a", "audio/ogg"],
  },
  video: { maxBytes: limits.uploadBytes, mimeTypes: ["video/mp4"] },
  file: { maxBytes: limits.uploadBytes },
};

/** Where a message goes, in the words of every method that sends one. */
export interface Target {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly reply_parameters?: { readonly message_id: number; readonly allow_sending_without_reply: true };
}

/** Telegram's words for a picture that it does not show: more than 10,000 dots around, or a strip, or no picture. */
const noPicture = /PHOTO_|IMAGE_PROCESS_FAILED/;

/** Uploads an attachment as the kind of message that shows it. A picture that Telegram does not show goes as a file. */
export async function sendAttachment(
  api: TelegramApi,
  target: Target,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<Message> {
  const bytes = await readMedia(part, sendMedia, openMedia);
  // The library writes the name into a header as it is.
  const file = await api.file(bytes, part.name.replace(/["\r\n;]/g, "_"));
  const what = "sending an attachment";
  const call = { what, write: true, signal, timeoutMs: limits.uploadTimeoutMs };
  const upload = (as: UploadKind): Promise<Message> =>
    api.call<Message>(call, (raw) => {
      switch (as) {
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
  return upload(uploadAs(part)).catch((error: unknown) => {
    if (isChannelError(error) && error.code === "invalid" && noPicture.test(error.message))
      return upload("document");
    throw error;
  });
}

type UploadKind = "photo" | "voice" | "audio" | "video" | "document";

function uploadAs({ kind, voice, mimeType }: MediaPart): UploadKind {
  if (kind === "image") return "photo";
  if (kind === "video") return "video";
  if (kind === "file") return "document";
  // A spoken message; an ogg that is none would be refused among the pieces of music.
  return voice === true || mimeType === "audio/ogg" ? "voice" : "audio";
}

/**
 * The bytes of an attachment that came in.
 *
 * @throws ChannelError `invalid` for a reference that is not one of ours, `not_found` for a file that is gone,
 *   `too_large` for one beyond what bots may fetch
 */
export async function fetchMedia(
  api: TelegramApi,
  ref: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const fileId = isPayload(ref.ref) ? textAt(ref.ref, "fileId") : undefined;
  if (fileId === undefined) throw new ChannelError("invalid", "Telegram: not a reference to a file");
  const call = { what: "looking a file up", write: false, signal };
  const file = await api.call(call, (raw) => raw.getFile({ file_id: fileId })).catch(asGone);
  if (file.file_path === undefined)
    throw new ChannelError("too_large", `Telegram: bots may fetch at most ${limits.mediaBytes} bytes`);
  const { body, headers } = await api.download(file.file_path, signal);
  if (body === null) throw new ChannelError("transient", "Telegram: a file without content");
  const fetched = fetchedMedia({ body, headers }, ref, limits.mediaBytes);
  return {
    ...(file.file_size === undefined ? {} : { size: file.file_size }),
    ...fetched,
    // Of most files Telegram says that they are bytes, and no more.
    mimeType: fetched.mimeType === octets ? ref.mimeType : fetched.mimeType,
  };
}

const octets = "application/octet-stream";

/** A file id that Telegram does not know is answered as a bad request. */
function asGone(error: unknown): never {
  if (error instanceof ChannelError && error.code === "invalid")
    throw new ChannelError("not_found", error.message, { cause: error });
  throw error;
}
