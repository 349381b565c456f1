import { ChannelError, type FetchedMedia, type MediaRef } from "@signalbox/channel";
import { z } from "zod";

/** Maximum size of an attachment, in bytes. */
export const MAX_ATTACHMENT_BYTES: number = 20_000_000;

/** Downloads an `https:` or `http:` URL from a client's message. */
export type FetchUrl = (url: string, signal: AbortSignal) => Promise<FetchedMedia>;

/**
 * Creates an attachment from a `data:` URL with its content, or an `https:` or `http:` URL to download it from. Returns
 * `undefined` for any other URL.
 */
export function attachmentOf(kind: "image" | "file", address: string, name?: string): MediaRef | undefined {
  const data = /^data:([^;,]*)[^,]*,/.exec(address);
  if (data === null && !/^https?:\/\//.test(address)) return undefined;
  const mimeType = data?.[1] || "application/octet-stream";
  return { kind, mimeType, name, ref: address };
}

/** Opens a file that a client has uploaded to the host. Returns `undefined` if the file no longer exists. */
export type OpenUpload = (owner: string, id: string) => Promise<Omit<FetchedMedia, "mimeType"> | undefined>;

/** A file that a client has uploaded to the host. */
export interface UploadedFile {
  readonly owner: string;
  readonly id: string;
  readonly name?: string;
  readonly mimeType: string;
  /** Size in bytes. */
  readonly size: number;
}

/** Creates an attachment from a file that has already been uploaded. */
export function uploadOf({ owner, id, name, mimeType, size }: UploadedFile): MediaRef {
  const kind = mimeType.startsWith("image/") ? "image" : "file";
  return { kind, mimeType, size, name, ref: { owner, id } };
}

const uploadRef = z.object({ owner: z.string(), id: z.string() });

/** Returns the uploaded file of an attachment, or `undefined` if the attachment is not an upload. */
export function uploadIn({ ref }: MediaRef): Pick<UploadedFile, "owner" | "id"> | undefined {
  return uploadRef.safeParse(ref).data;
}

/** Sources of attachments whose content is not part of the message. */
export interface AttachmentSources {
  readonly fetchUrl?: FetchUrl | undefined;
  readonly openUpload?: OpenUpload | undefined;
}

/** Downloads or opens an attachment. */
export async function fetchAttachment(
  media: MediaRef,
  { fetchUrl, openUpload }: AttachmentSources,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const { ref, mimeType } = media;
  const uploaded = uploadIn(media);
  if (uploaded !== undefined) {
    const file = await openUpload?.(uploaded.owner, uploaded.id);
    if (file === undefined) throw new ChannelError("invalid", "The file no longer exists");
    return { ...file, mimeType };
  }
  if (typeof ref !== "string")
    throw new ChannelError("invalid", "Not an attachment reference of this channel");
  if (ref.startsWith("data:")) return { body: new Blob([heldIn(ref)]).stream(), mimeType };
  if (fetchUrl !== undefined) return fetchUrl(ref, signal);
  throw new ChannelError("invalid", "This channel does not fetch attachments from other places");
}

/** Decodes a `data:` URL. `fetch` would decode it character by character, which blocks the event loop. */
function heldIn(url: string): Buffer<ArrayBuffer> {
  const comma = url.indexOf(",");
  const data = url.slice(comma + 1);
  try {
    const text = data.includes("%") ? decodeURIComponent(data) : data;
    return Buffer.from(text, /;\s*base64$/i.test(url.slice(0, comma)) ? "base64" : "utf8");
  } catch {
    throw new ChannelError("invalid", "The content of the attachment's data: URL cannot be read");
  }
}
