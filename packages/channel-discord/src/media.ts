import type { RawFile } from "@discordjs/rest";
import {
  allowAnyMedia,
  type ChannelContext,
  ChannelError,
  createFetchedMedia,
  type FetchedMedia,
  isChannelError,
  isPayload,
  type MediaPart,
  type MediaRef,
  objectAt,
  objectsAt,
  type Payload,
  readMedia,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import { isSnowflake } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { limits } from "./limits.ts";

/** Discord detects the file type itself. */
export const sendMedia: ReturnType<typeof allowAnyMedia> = allowAnyMedia(limits.uploadBytes);

/** Reads an attachment as a file for upload. */
export async function readFile(part: MediaPart, options: Pick<SendOptions, "openMedia">): Promise<RawFile> {
  const data = await readMedia(part, sendMedia, options.openMedia);
  return { name: part.name, data, contentType: part.mimeType };
}

type MediaContext = Pick<ChannelContext<DiscordConfig>, "fetch" | "config" | "clock">;

/** Discord's file hosts. */
const hosts: readonly string[] = ["cdn.discordapp.com", "media.discordapp.net"];

/** @throws ChannelError `invalid` if this channel did not create the reference, `not_found`, `too_large` */
export async function fetchMedia(
  context: MediaContext,
  api: DiscordApi,
  media: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const ref = isPayload(media.ref) ? media.ref : {};
  const url = checkFileUrl(context, textAt(ref, "url"));
  if (url === undefined)
    throw new ChannelError("invalid", "Discord: not an attachment reference of this channel");
  if (!isExpired(url, context.clock.now())) {
    try {
      return await download(context, url, media, signal);
    } catch (error) {
      if (!isChannelError(error) || error.code !== "not_found") throw error;
    }
  }
  // Attachment URLs expire after a day. Looking up the message returns a valid one.
  const fresh = checkFileUrl(context, await fetchFreshUrl(api, ref, signal));
  if (fresh === undefined) throw new ChannelError("not_found", "Discord: the attachment no longer exists");
  return await download(context, fresh, media, signal);
}

async function download(
  { fetch }: MediaContext,
  url: URL,
  media: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const response = await fetch(url, { redirect: "error", signal }).catch((cause: unknown) => {
    throw new ChannelError("transient", "Discord: downloading an attachment: no response", { cause });
  });
  const { body, status, headers } = response;
  if (response.ok && body !== null) return createFetchedMedia({ body, headers }, media, limits.mediaBytes);
  await body?.cancel();
  const code = status < 500 ? "not_found" : "transient";
  throw new ChannelError(code, `Discord: downloading an attachment: HTTP ${status}`);
}

async function fetchFreshUrl(
  api: DiscordApi,
  ref: Payload,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [channelId, messageId] = [textAt(ref, "channelId"), textAt(ref, "messageId")];
  if (!isSnowflake(channelId) || !isSnowflake(messageId)) return undefined;
  const path = `/channels/${channelId}/messages/${messageId}` as const;
  const message = await api.call({ what: "looking up an attachment", method: "GET", path, signal });
  if (!isPayload(message)) return undefined;
  const passedOn = objectsAt(message, "message_snapshots").map((one) => objectAt(one, "message"));
  const said = [message, ...passedOn];
  const id = textAt(ref, "attachmentId");
  if (id === undefined) {
    const images = said.flatMap((one) => objectsAt(one, "embeds")).map((embed) => objectAt(embed, "image"));
    return images
      .flatMap((image) => textAt(image, "url") ?? [])
      .find((url) => getPath(url) === getPath(textAt(ref, "url")));
  }
  const attachments = said.flatMap((one) => objectsAt(one, "attachments"));
  const attachment = attachments.find((one) => textAt(one, "id") === id);
  return attachment === undefined ? undefined : textAt(attachment, "url");
}

/** Returns the path of a URL. The query contains the expiry time. */
function getPath(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : new URL(url).pathname;
}

/** Returns true if a URL belongs to one of Discord's file hosts. */
export function isFileUrl(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === "https:" && hosts.includes(new URL(url).host);
}

/** Returns the URL if it belongs to Discord's file hosts or to the configured API proxy. */
function checkFileUrl({ config }: MediaContext, text: string | undefined): URL | undefined {
  const url = text === undefined || !URL.canParse(text) ? undefined : new URL(text);
  if (url === undefined) return undefined;
  const isDiscords = isFileUrl(url.href);
  const isProxys =
    url.origin === new URL(config.apiBaseUrl).origin && url.pathname.startsWith("/attachments/");
  return isDiscords || isProxys ? url : undefined;
}

/** The URL contains its expiry time in hexadecimal seconds. */
function isExpired(url: URL, now: number): boolean {
  const expires = Number.parseInt(url.searchParams.get("ex") ?? "", 16) * 1000;
  return expires <= now;
}
