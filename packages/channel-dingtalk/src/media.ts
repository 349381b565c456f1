import {
  type ChannelContext,
  ChannelError,
  createFetchedMedia,
  createRequests,
  type FetchedMedia,
  getOpusMs,
  isOpus,
  isPayload,
  type MediaPart,
  type MediaRef,
  readMedia,
  type SendMediaLimit,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import type { DingTalkApi } from "./api.ts";
import type { DingTalkConfig } from "./config.ts";
import { checkFileUrl } from "./hosts.ts";
import { limits } from "./limits.ts";
import type { Rendered } from "./outbound/render.ts";

/** Limits of outbound attachments. Source: DingTalk's page "Upload media files". */
export const sendMedia: Readonly<Record<"image" | "audio" | "file", SendMediaLimit>> = {
  image: {
    maxBytes: limits.imageBytes,
    mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/bmp"],
  },
  audio: { maxBytes: limits.voiceBytes, mimeTypes: ["audio/ogg"] },
  file: { maxBytes: limits.fileBytes },
};

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/gif": "gif",
  "image/bmp": "bmp",
};

/** Uploads an attachment and returns the message that shows it. */
export async function attach(
  api: DingTalkApi,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<Rendered> {
  const bytes = await readMedia(part, sendMedia, openMedia);
  // DingTalk does not accept a recording without its duration.
  const durationMs = part.kind === "audio" && isOpus(bytes) ? getOpusMs(bytes) : undefined;
  const isImage = part.kind === "image";
  const type = isImage ? "image" : durationMs === undefined ? "file" : "voice";
  // DingTalk recognizes images and recordings by the extension of the uploaded file, which people do not see.
  const names = { image: `image.${EXTENSIONS[part.mimeType] ?? "jpg"}`, voice: "voice.ogg", file: part.name };
  const file = new File([bytes], names[type], { type: part.mimeType });
  const mediaId = textAt(await api.upload(type, file, signal), "media_id");
  if (mediaId === undefined)
    throw new ChannelError("transient", "DingTalk: uploaded, but the response contains no media id");
  if (isImage) return { msgKey: "sampleImageMsg", parameters: { photoURL: mediaId } };
  if (durationMs !== undefined)
    return { msgKey: "sampleAudio", parameters: { mediaId, duration: String(durationMs) } };
  const fileType = /\.(\w{1,10})$/.exec(part.name)?.[1]?.toLowerCase() ?? "bin";
  return { msgKey: "sampleFile", parameters: { mediaId, fileName: part.name, fileType } };
}

/**
 * Creates the `fetchMedia` of an account. DingTalk returns a temporary URL for the code in a message.
 *
 * @returns a function that throws ChannelError `invalid` if the reference is not from this channel or leads to a host
 * that is not DingTalk's, and `too_large`
 */
export function createFetchMedia(
  context: Pick<ChannelContext<DingTalkConfig>, "config" | "fetch" | "clock">,
  api: DingTalkApi,
): (media: MediaRef, signal: AbortSignal) => Promise<FetchedMedia> {
  // Without the token, because the URL is signed and its host is another one.
  const downloads = createRequests({ ...context, platform: "DingTalk" });

  return async (media, signal) => {
    const downloadCode = isPayload(media.ref) ? textAt(media.ref, "downloadCode") : undefined;
    if (downloadCode === undefined)
      throw new ChannelError("invalid", "DingTalk: not an attachment reference of this channel");
    const answer = await api.call({
      what: "looking up an attachment",
      path: "/v1.0/robot/messageFiles/download",
      body: { robotCode: api.robotCode, downloadCode },
      write: false,
      signal,
    });
    const url = checkFileUrl(textAt(answer, "downloadUrl") ?? "", context.config.apiBaseUrl);
    const response = await downloads.open({ what: "downloading an attachment", url, signal });
    if (response.body === null) throw new ChannelError("not_found", "DingTalk: the attachment is empty");
    return createFetchedMedia({ body: response.body, headers: response.headers }, media, limits.mediaBytes);
  };
}
