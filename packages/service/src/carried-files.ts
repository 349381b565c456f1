import { createHash, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isPayload, type MediaRef, textAt } from "@signalbox/channel";
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
/** More of them nobody reads. */
const MOST_FILES = 20;
const DATA_URL = /^data:([^;,]*)(?:;[^;,]{0,200})*?;base64,/;

/** A file that a message holds itself. */
interface Carried {
  readonly mimeType: string;
  readonly name?: string;
  readonly slices: readonly string[];
}

/** The attachments of a message, with those of its files that were set down. */
interface SetDown {
  readonly media: readonly MediaRef[];
  /** Nobody is to fetch what was set down any more. */
  forget(): Promise<void>;
}

/**
 * Large files that a message holds itself are set down as files of their own, or else megabytes of them would stand in
 * the inbox. What cannot be set down, since there is no room or it is no plain base64, stays in its message.
 */
export async function setDownFiles(submission: Submission, files: FileDesk): Promise<SetDown> {
  const { id, attachments = [] } = submission;
  // No token has such a name. The same message may come twice at once: what is refused takes nothing of the other.
  const owner = `message ${id} ${randomUUID()}`;
  return {
    media: await attachmentsOf(submission, (carried) => setDown(carried, owner, files)),
    async forget() {
      if (attachments.some(({ url }) => url.length >= LARGE)) await files.remove(owner);
    },
  };
}

/** The attachments of a message that was taken before, as `taken` has them where they are the same. */
export function repeatedFiles(
  submission: Submission,
  taken: readonly MediaRef[],
): Promise<readonly MediaRef[]> {
  return attachmentsOf(submission, async (carried, place) => {
    const ref = taken[place]?.ref;
    const owner = isPayload(ref) ? textAt(ref, "owner") : undefined;
    const file = owner === undefined ? undefined : await nameOf(carried, owner);
    return isDeepStrictEqual(file?.media.ref, ref) ? file?.media : undefined;
  });
}

/** @param fileOf gives what stands for a large file; `place` is that among the attachments */
async function attachmentsOf(
  { attachments = [] }: Submission,
  fileOf: (carried: Carried, place: number) => Promise<MediaRef | undefined>,
): Promise<readonly MediaRef[]> {
  const media: MediaRef[] = [];
  for (const [index, attachment] of attachments.entries()) {
    const carried = index < MOST_FILES ? carriedIn(attachment) : undefined;
    const { kind, url, name } = attachment;
    const one = (carried && (await fileOf(carried, media.length))) ?? attachmentOf(kind, url, name);
    if (one !== undefined) media.push(one);
  }
  return media;
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

/** A file with a name of its own. */
interface Named {
  readonly id: string;
  readonly media: MediaRef;
}

/** Named by what it holds; undefined where that is no plain base64. */
async function nameOf({ slices, mimeType, name }: Carried, owner: string): Promise<Named | undefined> {
  const hash = createHash("sha256");
  let size = 0;
  for (const slice of slices) {
    const bytes = Buffer.from(slice, "base64");
    if (bytes.byteLength !== bytesIn(slice)) return undefined;
    hash.update(bytes);
    size += bytes.byteLength;
    await setImmediate();
  }
  const id = hash.digest("base64url");
  const media = uploadOf({ owner, id, mimeType, size, ...(name === undefined ? {} : { name }) });
  return { id, media };
}

async function setDown(carried: Carried, owner: string, files: FileDesk): Promise<MediaRef | undefined> {
  const file = await nameOf(carried, owner);
  if (file === undefined) return undefined;
  const { id, media } = file;
  let at = 0;
  for (const slice of carried.slices) {
    const bytes = Buffer.from(slice, "base64");
    // What is wrong with the disk is said by whoever keeps the files.
    const added = await files.add({ owner, id, at, bytes }).catch(() => undefined);
    at += bytes.byteLength;
    // The message may hold it twice.
    if (added?.kind !== "added" && !(added?.kind === "out_of_order" && added.bytes >= at)) return undefined;
  }
  return media;
}

/** What plain base64 of that length holds; the reader of base64 passes over whatever else there is. */
function bytesIn(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}
