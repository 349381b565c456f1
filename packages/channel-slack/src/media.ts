import {
  anyMediaUpTo,
  ChannelError,
  type Clock,
  type FetchedMedia,
  fetchedMedia,
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

/** Slack takes any file, and shows what it can. */
export const sendMedia: ReturnType<typeof anyMediaUpTo> = anyMediaUpTo(limits.uploadBytes);

/** Pauses between looks for the message of a file, which Slack makes a moment later, in milliseconds. */
const pausesMs = [0, 200, 500, 1_000, 2_000];

/** Uploads an attachment into the conversation. Resolves with the id of its message. */
export async function attach(
  { api, clock }: { readonly api: SlackApi; readonly clock: Pick<Clock, "delay"> },
  { channel, thread }: SlackAddress,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<string> {
  const bytes = Buffer.from(await readMedia(part, sendMedia, openMedia));
  const id = await api.shareFile({ channel, thread, name: part.name, bytes }, signal);
  for (const pause of pausesMs) {
    if (pause > 0) await clock.delay(pause, signal).catch(() => {});
    const ts = await sharedAt(api, id, channel, signal).catch(() => undefined);
    if (ts !== undefined) return messageId({ channel, ts });
  }
  // It is out; that nobody can say where is no reason to send it again.
  return messageId({ channel, ts: id });
}

async function sharedAt(
  api: SlackApi,
  file: string,
  channel: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await api.call("files.info", { file }, { what: "looking a file up", write: false, signal });
  const shares = objectAt(objectAt(answer, "file"), "shares");
  const [share] = [
    ...objectsAt(objectAt(shares, "public"), channel),
    ...objectsAt(objectAt(shares, "private"), channel),
  ];
  return share === undefined ? undefined : textAt(share, "ts");
}

export interface MediaNeeds {
  readonly api: SlackApi;
  readonly fetch: typeof globalThis.fetch;
  readonly botToken: string;
  /** Where the API is: files of a stand-in or a proxy lie there too. */
  readonly apiUrl: string;
}

/**
 * @throws ChannelError `invalid` for a reference that is not of `readContent`'s making, `permission` where
 *   Slack shows a page to sign in, `too_large`
 */
export async function fetchMedia(
  needs: MediaNeeds,
  media: MediaRef,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const ref = isPayload(media.ref) ? media.ref : {};
  const id = textAt(ref, "id");
  if (id === undefined) throw new ChannelError("invalid", "Slack: not a reference to an attachment");
  const url = addressOf(textAt(ref, "url") ?? (await urlOf(needs.api, id, signal)), needs.apiUrl);
  const response = await download(needs, url, signal);
  const { body, headers, status } = response;
  // Without the scope for files Slack answers with a page to sign in.
  const isPage = headers.get("content-type")?.startsWith("text/html") && media.mimeType !== "text/html";
  if (response.ok && !isPage && body !== null)
    return fetchedMedia({ body, headers }, media, limits.mediaBytes);
  await body?.cancel();
  throw refusal(status, isPage === true);
}

/** The token goes to Slack's own hosts alone. */
function addressOf(text: string, apiUrl: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSlack =
    url?.protocol === "https:" && /^(?:[\w-]+\.)*slack\.com$/.test(url.hostname) && url.port === "";
  if (url === undefined || !(isSlack || url.origin === new URL(apiUrl).origin))
    throw new ChannelError("invalid", "Slack: an attachment that is not on Slack's hosts");
  return url;
}

async function urlOf(api: SlackApi, file: string, signal: AbortSignal): Promise<string> {
  const answer = await api.call("files.info", { file }, { what: "looking a file up", write: false, signal });
  const about = objectAt(answer, "file");
  return textAt(about, "url_private_download") ?? textAt(about, "url_private") ?? "";
}

async function download({ fetch, botToken }: MediaNeeds, url: URL, signal: AbortSignal): Promise<Response> {
  try {
    // Elsewhere the token would go along.
    return await fetch(url, { headers: { authorization: `Bearer ${botToken}` }, redirect: "manual", signal });
  } catch (cause) {
    throw new ChannelError("transient", "Slack: fetching an attachment: no answer", { cause });
  }
}

function refusal(status: number, isPage: boolean): ChannelError {
  if (isPage || status === 401 || status === 403 || (status >= 300 && status < 400))
    return new ChannelError("permission", "Slack: the app may not read files: files:read is missing");
  if (status === 404) return new ChannelError("not_found", "Slack: the attachment is gone");
  return new ChannelError("transient", `Slack: fetching an attachment: HTTP ${status}`);
}
