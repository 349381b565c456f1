import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { MediaRef } from "@signalbox/channel";
import { attachmentOf, uploadOf } from "@signalbox/channel-web";
import type { ClientAttachment, Submission, UploadPiece, UploadResult } from "@signalbox/server";

/** Where files are kept that messages name. */
export interface FileDesk {
  add(piece: Omit<UploadPiece, "client"> & { readonly owner: string }): Promise<UploadResult>;
  /** Removes all files of an owner. */
  remove(owner: string): Promise<void>;
}

/** Characters of base64 from which on a file does not stay in its message. */
const LARGE = 65_536;
/** Characters that are read at once, between which other work goes on; a multiple of four. */
const SLICE = 1_048_576;
const DATA_URL = /^data:([^;,]*)(?:;[^;,]{0,200})*?;base64,/;

/** A file that a message holds itself. */
interface Carried {
  readonly mimeType: string;
  readonly name?: string;
  readonly slices: readonly string[];
}

/**
 * The attachments of a message. Large ones that it holds itself are set down as files of their own, or else megabytes
 * of them would stand in the inbox. What cannot be set down, since there is no room or it is no plain base64, stays in
 * its message. The same message again has the same attachments.
 */
export async function attachmentsOf(
  { id, attachments = [] }: Submission,
  files: FileDesk,
): Promise<readonly MediaRef[]> {
  const media: MediaRef[] = [];
  for (const attachment of attachments) {
    const carried = carriedIn(attachment);
    const file = carried && (await setDown(carried, ownerOf(id), files));
    const { kind, url, name } = attachment;
    const one = file ?? attachmentOf(kind, url, name);
    if (one !== undefined) media.push(one);
  }
  return media;
}

/** The message is answered: what was set down of it is kept elsewhere by now. */
export async function forgetFiles(
  { id, attachments = [] }: Submission,
  files: Pick<FileDesk, "remove">,
): Promise<void> {
  if (attachments.some(({ url }) => url.length >= LARGE)) await files.remove(ownerOf(id));
}

/** No token has such a name. */
function ownerOf(messageId: string): string {
  return `message ${messageId}`;
}

function carriedIn({ kind, url, name }: ClientAttachment): Carried | undefined {
  const [head, mimeType = ""] = DATA_URL.exec(url.slice(0, 1_000)) ?? [];
  if (head === undefined || url.length < LARGE) return undefined;
  // A file that is set down is a picture where its type says so.
  if ((kind === "image") !== mimeType.startsWith("image/") || mimeType === "") return undefined;
  const slices: string[] = [];
  for (let at = head.length; at < url.length; at += SLICE) slices.push(url.slice(at, at + SLICE));
  return { mimeType, slices, ...(name === undefined ? {} : { name }) };
}

async function setDown(
  { slices, mimeType, name }: Carried,
  owner: string,
  files: FileDesk,
): Promise<MediaRef | undefined> {
  const hash = createHash("sha256");
  for (const slice of slices) {
    const bytes = Buffer.from(slice, "base64");
    if (bytes.byteLength !== bytesIn(slice)) return undefined;
    hash.update(bytes);
    await setImmediate();
  }
  const id = hash.digest("base64url");
  let size = 0;
  for (const slice of slices) {
    const bytes = Buffer.from(slice, "base64");
    const added = await files.add({ owner, id, at: size, bytes });
    size += bytes.byteLength;
    // An earlier attempt may have brought it.
    if (added.kind !== "added" && !(added.kind === "out_of_order" && added.bytes >= size)) return undefined;
  }
  return uploadOf({ owner, id, mimeType, size, ...(name === undefined ? {} : { name }) });
}

/** What plain base64 of that length holds; the reader of base64 passes over whatever else there is. */
function bytesIn(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}
