import { createHash, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { InlineImage, MediaRef, MessageEvent, TurnRequest } from "@signalbox/channel";
import { attachmentOf, uploadIn, uploadOf } from "@signalbox/channel-web";
import type { ClientAttachment, Submission, UploadPiece, UploadResult } from "@signalbox/server";

/** Storage for files that messages refer to. */
export interface FileStorage {
  add(piece: Omit<UploadPiece, "client"> & { readonly owner: string }): Promise<UploadResult>;
  /** Removes all files of an owner. */
  remove(owner: string): Promise<void>;
}

/** Maximum length of a base64 file that is stored inside its message, in characters. */
const LARGE_FILE_CHARS = 65_536;
/** Number of characters to decode at a time, so that other work can proceed. A multiple of four. */
const SLICE_CHARS = 1_048_576;
const DATA_URL = /^data:([^;,]*)(?:;[^;,]{0,200})*?;base64,/;

/** A file embedded in a message. */
interface EmbeddedFile {
  readonly mimeType: string;
  readonly name?: string;
  readonly slices: readonly string[];
}

type History = NonNullable<TurnRequest["history"]>;

/** A message's attachments and earlier turns, with references to its stored files. */
export interface MessageFiles {
  readonly media: readonly MediaRef[];
  readonly history: History;
}

interface StoredFiles extends MessageFiles {
  /** Removes the stored files. */
  forget(): Promise<void>;
}

/** Returns true if a message has files. */
export function hasFiles({ attachments = [], history = [] }: Submission): boolean {
  return attachments.length > 0 || history.some(({ images = [] }) => images.length > 0);
}

/**
 * Stores the large files of a message separately, because they would fill the inbox with megabytes. A file stays in the
 * message if there is no space for it or if it is not plain base64.
 */
export async function storeEmbeddedFiles(submission: Submission, files: FileStorage): Promise<StoredFiles> {
  // No token has this name. The id is random, because a duplicate of the message may arrive at the same time and must
  // keep its files if this one is rejected.
  const owner = `message ${submission.id} ${randomUUID()}`;
  let isUsed = false;
  const storeOwn = (carried: EmbeddedFile): Promise<MediaRef | undefined> => {
    isUsed = true;
    return storeFile(carried, owner, files);
  };
  return {
    media: await mapAttachments(submission, storeOwn),
    history: await mapHistory(submission, storeOwn),
    async forget() {
      if (isUsed) await files.remove(owner);
    },
  };
}

/**
 * Returns the files of a repeated submission, with references to the stored files of `taken` if the contents are equal.
 */
export async function repeatedFiles(submission: Submission, taken: MessageEvent): Promise<MessageFiles> {
  const turns = taken.turn?.history ?? [];
  return {
    media: await mapAttachments(submission, (carried, at) => sameFile(carried, taken.media[at])),
    history: await mapHistory(submission, (carried, turn, at) =>
      sameFile(carried, turns[turn]?.images?.[at]),
    ),
  };
}

async function sameFile(carried: EmbeddedFile, taken: MediaRef | InlineImage | undefined) {
  const upload = taken !== undefined && "ref" in taken ? uploadIn(taken) : undefined;
  const file = upload && (await createContentName(carried, upload.owner));
  return file?.id === upload?.id ? file?.media : undefined;
}

/** @param replace returns the reference that replaces a large file. `place` is its index among the attachments. */
async function mapAttachments(
  { attachments = [] }: Submission,
  replace: (carried: EmbeddedFile, place: number) => Promise<MediaRef | undefined>,
): Promise<readonly MediaRef[]> {
  const media: MediaRef[] = [];
  for (const attachment of attachments) {
    const carried = carriedIn(attachment);
    const { kind, url, name } = attachment;
    const one = (carried && (await replace(carried, media.length))) ?? attachmentOf(kind, url, name);
    if (one !== undefined) media.push(one);
  }
  return media;
}

/** @param replace returns the reference that replaces a large image. `place` is its index in the turn. */
async function mapHistory(
  { history = [] }: Submission,
  replace: (carried: EmbeddedFile, turn: number, place: number) => Promise<MediaRef | undefined>,
): Promise<History> {
  const turns: History[number][] = [];
  for (const turn of history) {
    const images: (InlineImage | MediaRef)[] = [];
    for (const picture of turn.images ?? []) {
      const { mimeType, data } = picture;
      const carried = data.length < LARGE_FILE_CHARS ? undefined : { mimeType, slices: splitSlices(data) };
      images.push((carried && (await replace(carried, turns.length, images.length))) ?? picture);
    }
    turns.push(images.length === 0 ? turn : { ...turn, images });
  }
  return turns;
}

function carriedIn({ kind, url, name }: ClientAttachment): EmbeddedFile | undefined {
  const [head, mimeType = ""] = DATA_URL.exec(url.slice(0, 1_000)) ?? [];
  if (head === undefined || url.length < LARGE_FILE_CHARS) return undefined;
  // The media type of a stored file determines its kind.
  if ((kind === "image") !== mimeType.startsWith("image/") || mimeType === "") return undefined;
  return { mimeType, slices: splitSlices(url, head.length), name };
}

function splitSlices(text: string, from = 0): readonly string[] {
  const slices: string[] = [];
  for (let at = from; at < text.length; at += SLICE_CHARS) slices.push(text.slice(at, at + SLICE_CHARS));
  return slices;
}

/** A file with a name derived from its content. */
interface Named {
  readonly id: string;
  readonly media: MediaRef;
}

/** Derives a file's name from its content. Returns undefined if the string is not plain base64. */
async function createContentName(
  { slices, mimeType, name }: EmbeddedFile,
  owner: string,
): Promise<Named | undefined> {
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
  const media = uploadOf({ owner, id, mimeType, size, name });
  return { id, media };
}

async function storeFile(
  carried: EmbeddedFile,
  owner: string,
  files: FileStorage,
): Promise<MediaRef | undefined> {
  const file = await createContentName(carried, owner);
  if (file === undefined) return undefined;
  const { id, media } = file;
  let at = 0;
  for (const slice of carried.slices) {
    const bytes = Buffer.from(slice, "base64");
    // The file store logs disk errors itself.
    const added = await files.add({ owner, id, at, bytes }).catch(() => undefined);
    at += bytes.byteLength;
    // The message may contain the same file twice.
    if (added?.kind !== "added" && !(added?.kind === "out_of_order" && added.bytes >= at)) return undefined;
  }
  return media;
}

/** Returns the length of the decoded data. The decoder skips invalid characters, so a different length reveals them. */
function bytesIn(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}
