import {
  allowAnyMedia,
  ChannelError,
  type Clock,
  createFetchedMedia,
  type FetchedMedia,
  isPayload,
  type MediaPart,
  type MediaRef,
  objectAt,
  objectsAt,
  readMedia,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import { messageId, type SlackAddress } from "./address.ts";
import type { SlackApi } from "./api.ts";
import { limits } from "./limits.ts";

/** Slack accepts any file type. */
export const sendMedia: ReturnType<typeof allowAnyMedia> = allowAnyMedia(limits.uploadBytes);

/**
 * Delays in milliseconds between lookups of an uploaded file's message, which Slack creates shortly after the upload.
 */
const lookupPausesMs = [0, 200, 500, 1_000, 2_000];

/** Uploads an attachment to the conversation and returns the id of its message. */
export async function attach(
  { api, clock }: { readonly api: SlackApi; readonly clock: Pick<Clock, "delay"> },
  { channel, thread }: SlackAddress,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<string> {
  const bytes = Buffer.from(await readMedia(part, sendMedia, openMedia));
  const id = await api.shareFile({ channel, thread, name: part.name, bytes }, signal);
  for (const pause of lookupPausesMs) {
    if (pause > 0) await clock.delay(pause, signal).catch(() => {});
    const ts = await findShare(api, id, channel, signal).catch(() => undefined);
    if (ts !== undefined) return messageId({ channel, ts });
  }
  // The file has been sent. It must not be sent again only because its message was not found.
  return messageId({ channel, ts: id });
}

async function findShare(
  api: SlackApi,
  file: string,
  channel: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await api.call("files.info", { file }, { what: "looking up a file", write: false, signal });
  const shares = objectAt(objectAt(answer, "file"), "shares");
  const [share] = [
    ...objectsAt(objectAt(shares, "public"), channel),
    ...objectsAt(objectAt(shares, "private"), channel),
  ];
  return share === undefined ? undefined : textAt(share, "ts");
}

export interface MediaSources {
  readonly api: SlackApi;
  readonly fetch: typeof globalThis.fetch;
  readonly botToken: string;
  /** Base URL of the API. A fake server or proxy serves files from the same origin. */
  readonly apiUrl: string;
}

/**
 * @throws ChannelError `invalid` if this channel did not create the reference, `permission` if Slack returns a sign-in
 * page, `too_large`
 */
export async function fetchMedia(
  needs: MediaSources,
  media: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const ref = isPayload(media.ref) ? media.ref : {};
  const id = textAt(ref, "id");
  if (id === undefined)
    throw new ChannelError("invalid", "Slack: not an attachment reference of this channel");
  const url = checkFileUrl(textAt(ref, "url") ?? (await lookUpFileUrl(needs.api, id, signal)), needs.apiUrl);
  const response = await download(needs, url, signal);
  const { body, headers, status } = response;
  // Without the `files:read` scope, Slack returns a sign-in page.
  const isPage = headers.get("content-type")?.startsWith("text/html") && media.mimeType !== "text/html";
  if (response.ok && !isPage && body !== null)
    return createFetchedMedia({ body, headers }, media, limits.mediaBytes);
  await body?.cancel();
  throw refusal(status, isPage === true);
}

/** Returns the URL if it belongs to Slack. The token must not be sent to other hosts. */
function checkFileUrl(text: string, apiUrl: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSlack =
    url?.protocol === "https:" && /^(?:[\w-]+\.)*slack\.com$/.test(url.hostname) && url.port === "";
  if (url === undefined || !(isSlack || url.origin === new URL(apiUrl).origin))
    throw new ChannelError("invalid", "Slack: the attachment is not on a host of Slack");
  return url;
}

async function lookUpFileUrl(api: SlackApi, file: string, signal: AbortSignal): Promise<string> {
  const answer = await api.call("files.info", { file }, { what: "looking up a file", write: false, signal });
  const about = objectAt(answer, "file");
  return textAt(about, "url_private_download") ?? textAt(about, "url_private") ?? "";
}

async function download({ fetch, botToken }: MediaSources, url: URL, signal: AbortSignal): Promise<Response> {
  try {
    // A redirect could send the token to another host.
    return await fetch(url, { headers: { authorization: `Bearer ${botToken}` }, redirect: "manual", signal });
  } catch (cause) {
    throw new ChannelError("transient", "Slack: downloading an attachment: no response", { cause });
  }
}

function refusal(status: number, isPage: boolean): ChannelError {
  if (isPage || status === 401 || status === 403 || (status >= 300 && status < 400))
    return new ChannelError(
      "permission",
      "Slack: the app cannot read files: the files:read scope is missing",
    );
  if (status === 404) return new ChannelError("not_found", "Slack: the attachment no longer exists");
  return new ChannelError("transient", `Slack: downloading an attachment: HTTP ${status}`);
}
