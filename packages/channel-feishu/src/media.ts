import {
  ChannelError,
  createFetchedMedia,
  encodePathSegment,
  type FetchedMedia,
  getOpusMs,
  isChannelError,
  isOpus,
  isPayload,
  type MediaPart,
  type MediaRef,
  type OutboundMediaKind,
  readMedia,
  type SendMediaLimit,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import type { FeishuApi } from "./api.ts";
import { limits } from "./limits.ts";
import type { Rendered } from "./outbound/render.ts";

/** Limits of outbound attachments. Sources: the SDK's notes on `im.v1.image.create` and `im.v1.file.create`. */
export const sendMedia: Readonly<Record<OutboundMediaKind, SendMediaLimit>> = {
  image: {
    maxBytes: limits.imageUploadBytes,
    mimeTypes: [
      "image/jpeg",
      "image/png",
      "image/webp",
      "image/gif",
      "image/bmp",
      "image/x-icon",
      "image/tiff",
      "image/heic",
    ],
  },
  audio: { maxBytes: limits.fileUploadBytes, mimeTypes: ["audio/ogg", "audio/opus"] },
  video: { maxBytes: limits.fileUploadBytes, mimeTypes: ["video/mp4"] },
  file: { maxBytes: limits.fileUploadBytes },
};

/** Feishu's codes for an image that it cannot read or that has too many pixels. */
const noPicture: readonly (string | undefined)[] = ["234011", "234039"];

/**
 * Uploads an attachment and returns the message that contains it. Images that Feishu rejects, and audio other than
 * Opus, are sent as files.
 */
export async function attach(
  api: FeishuApi,
  part: MediaPart,
  options: Pick<SendOptions, "openMedia" | "signal">,
): Promise<Rendered> {
  const bytes = Buffer.from(await readMedia(part, sendMedia, options.openMedia));
  const { signal } = options;
  // Uploads are not visible to anyone. Repeating one only leaves an unused file.
  const call = { what: "uploading an attachment", write: false, signal };

  const asImage = async (): Promise<Rendered> => {
    const answer = await api.call(call, (client) =>
      client.image.create({ data: { image_type: "message", image: bytes } }),
    );
    return { msgType: "image", content: JSON.stringify({ image_key: keyOf(answer?.image_key) }) };
  };
  const asFile = async (
    msgType: "file" | "audio" | "media",
    fileType: "opus" | "mp4" | FileType,
    duration?: number,
  ): Promise<Rendered> => {
    const answer = await api.call(call, (client) =>
      client.file.create({
        data: {
          file_type: fileType,
          file_name: part.name,
          file: bytes,
          duration,
        },
      }),
    );
    return { msgType, content: JSON.stringify({ file_key: keyOf(answer?.file_key) }) };
  };

  switch (part.kind) {
    case "image":
      try {
        return await asImage();
      } catch (error) {
        if (!isChannelError(error) || !noPicture.includes(error.platformCode)) throw error;
        return await asFile("file", "stream");
      }
    case "audio":
      return isOpus(bytes) ? await asFile("audio", "opus", getOpusMs(bytes)) : await asFile("file", "stream");
    case "video":
      return await asFile("media", "mp4");
    case "file":
      return await asFile("file", fileType(part.mimeType));
  }
}

function keyOf(key: string | undefined): string {
  if (key !== undefined) return key;
  throw new ChannelError("transient", "Feishu: uploaded, but the response contains no file key");
}

type FileType = "pdf" | "doc" | "xls" | "ppt" | "stream";

/** Returns the type that selects Feishu's preview of a document. */
function fileType(mimeType: string): FileType {
  if (mimeType === "application/pdf") return "pdf";
  if (/^application\/(msword|vnd\.openxmlformats-officedocument\.wordprocessingml\.)/.test(mimeType))
    return "doc";
  if (/^application\/(vnd\.ms-excel|vnd\.openxmlformats-officedocument\.spreadsheetml\.)/.test(mimeType))
    return "xls";
  if (
    /^application\/(vnd\.ms-powerpoint|vnd\.openxmlformats-officedocument\.presentationml\.)/.test(mimeType)
  )
    return "ppt";
  return "stream";
}

/** @throws ChannelError `invalid` if the reference was not created by `readContent`, `too_large` */
export async function fetchMedia(
  api: FeishuApi,
  media: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const ref = isPayload(media.ref) ? media.ref : {};
  const messageId = textAt(ref, "messageId");
  const key = textAt(ref, "key");
  const type = textAt(ref, "type");
  if (messageId === undefined || key === undefined || (type !== "image" && type !== "file")) {
    throw new ChannelError("invalid", "Feishu: not an attachment reference of this channel");
  }
  const answer = await api.call({ what: "fetching an attachment", write: false, signal }, (client) =>
    client.messageResource.get({
      path: { message_id: encodePathSegment(messageId), file_key: encodePathSegment(key) },
      params: { type },
    }),
  );
  return createFetchedMedia(answer, media, limits.mediaBytes);
}
