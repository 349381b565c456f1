import {
  type ChannelContext,
  ChannelError,
  createFetchedMedia,
  createRequests,
  type FetchedMedia,
  isPayload,
  type MediaRef,
  type OutboundMediaKind,
  type SendMediaLimit,
  textAt,
} from "@signalbox/channel";
import type { WecomConfig } from "./config.ts";
import { createDecryption } from "./encryption.ts";
import { limits } from "./limits.ts";

/**
 * Limits of attachments to send. Source: "上传临时素材" of document/path/101463. Voice messages must be AMR, so audio is
 * sent as a file.
 */
export const sendMedia: Partial<Readonly<Record<OutboundMediaKind, SendMediaLimit>>> = {
  image: { maxBytes: limits.imageUploadBytes, mimeTypes: ["image/jpeg", "image/png"] },
  video: { maxBytes: limits.videoUploadBytes, mimeTypes: ["video/mp4"] },
  file: { maxBytes: limits.fileUploadBytes },
};

/** Bytes by which an encrypted attachment can be longer than its content. */
const MAX_PADDING_BYTES = 32;

/** The host of WeCom's storage in Tencent's cloud, in each region. Other buckets there belong to anyone. */
const storageHost = /^ww-aibot-img-\d+\.cos\.[a-z0-9-]+\.myqcloud\.com$/;

/** Returns true if attachments may be downloaded from a URL. */
function isMediaUrl(url: URL, { wsUrl, apiBaseUrl }: WecomConfig): boolean {
  const { protocol, hostname, port } = url;
  const isWecom = storageHost.test(hostname) || hostname.endsWith(".weixin.qq.com");
  if (protocol === "https:" && port === "" && isWecom) return true;
  // A private deployment stores attachments on its own server.
  const isHttp = protocol === "https:" || protocol === "http:";
  return isHttp && [wsUrl, apiBaseUrl].some((own) => new URL(own).host === url.host);
}

/**
 * Downloads and decrypts an attachment. WeCom's links are valid for five minutes.
 *
 * @throws ChannelError `invalid` if the reference does not lead to WeCom, `too_large`
 */
export async function fetchMedia(
  context: Pick<ChannelContext<WecomConfig>, "config" | "fetch" | "clock">,
  media: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const ref = isPayload(media.ref) ? media.ref : {};
  const text = textAt(ref, "url") ?? "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isMediaUrl(url, context.config))
    throw new ChannelError("invalid", "WeCom: not an attachment reference of this channel");
  const requests = createRequests({ ...context, platform: "WeCom", timeoutMs: limits.requestTimeoutMs });
  const { body, headers } = await requests.open({ what: "fetching an attachment", url, signal });
  if (body === null) throw new ChannelError("transient", "WeCom: the attachment has no content");
  const named = { ...media, name: readFileName(headers.get("content-disposition")) ?? media.name };
  const aesKey = textAt(ref, "aesKey") ?? context.config.encodingAesKey;
  if (aesKey === undefined) return createFetchedMedia({ body, headers }, named, limits.mediaBytes);
  const encrypted = createFetchedMedia({ body, headers }, named, limits.mediaBytes + MAX_PADDING_BYTES);
  const decrypted = encrypted.body.pipeThrough(createDecryption(aesKey));
  // The announced length includes the padding, so the size of the content is unknown.
  const withoutLength = new Headers({ "content-type": encrypted.mimeType });
  return createFetchedMedia({ body: decrypted, headers: withoutLength }, named, limits.mediaBytes);
}

/** Returns the file name of a `content-disposition` header. */
function readFileName(header: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;\s]+)/i.exec(header ?? "")?.[1];
  const plain = /filename="?([^";]+)"?/i.exec(header ?? "")?.[1];
  const name = encoded ?? plain;
  if (name === undefined) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
