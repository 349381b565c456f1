import { ChannelError, type FetchedMedia, type MediaRef } from "@signalbox/channel";

/** Largest attachment in bytes. */
export const MAX_ATTACHMENT_BYTES: number = 20_000_000;

/** Fetches what is behind an `https:` or `http:` URL that a client named. */
export type FetchUrl = (url: string, signal: AbortSignal) => Promise<FetchedMedia>;

/**
 * An attachment by its address: a `data:` URL that holds it, or an `https:` or `http:` URL that it is fetched from.
 * Undefined for any other address.
 */
export function attachmentOf(kind: "image" | "file", address: string, name?: string): MediaRef | undefined {
  const data = /^data:([^;,]*)[^,]*,/.exec(address);
  if (data === null && !/^https?:\/\//.test(address)) return undefined;
  const mimeType = data?.[1] || "application/octet-stream";
  return { kind, mimeType, ...(name === undefined ? {} : { name }), ref: address };
}

/** What is behind the address of an attachment. */
export async function fetchAttachment(
  { ref, mimeType }: MediaRef,
  fetchUrl: FetchUrl | undefined,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  if (typeof ref !== "string") throw new ChannelError("invalid", "Not an attachment of this channel");
  if (ref.startsWith("data:")) {
    const { body } = await fetch(ref);
    if (body !== null) return { body, mimeType };
  } else if (fetchUrl !== undefined) return fetchUrl(ref, signal);
  throw new ChannelError("invalid", "Attachments are not fetched from elsewhere here");
}
