import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { makeFolder, syncFolder } from "./durable-folders.ts";
import { getErrorCode } from "./types.ts";

/** Files that clients upload in pieces before they send a message that refers to them. */
export interface Uploads {
  /** Appends a piece to a file. The first piece creates it. */
  add(piece: UploadPiece): Promise<UploadAdded>;
  /** Resolves to `undefined` if the file does not exist. */
  open(
    owner: string,
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly size: number } | undefined>;
  /** Removes all files of an owner. */
  remove(owner: string): Promise<void>;
  /**
   * Removes files to which nothing was appended for a day.
   *
   * @param needed returns the files that are still needed, however old they are
   * @returns the number of removed files
   */
  prune(needed: () => Promise<readonly UploadName[]>): Promise<number>;
}

/** Identifies an upload. */
export interface UploadName {
  /** A client or a message. Only the owner can refer to the file, and quotas apply per owner. */
  readonly owner: string;
  /** Chosen by the client: 16 to 64 letters, digits, `_` and `-`. */
  readonly id: string;
}

export interface UploadPiece extends UploadName {
  /** Offset of the piece in the file. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The result of adding a piece. */
export interface UploadAdded {
  /**
   * - `out_of_order`: the piece does not continue the file.
   * - `too_large`: the file would exceed `maxBytes`.
   * - `full`: a quota of the owner, or of all owners together, is used up.
   */
  readonly kind: "added" | "out_of_order" | "too_large" | "full";
  /** The present size of the file. */
  readonly bytes: number;
}

export interface UploadsOptions {
  /** Created on demand. Only one process may use it at a time. */
  readonly dir: string;
  /** Maximum size of one file. */
  readonly maxBytes: number;
  /** Maximum size of all files of one owner. Default 100,000,000. */
  readonly quotaBytes?: number;
  /** Maximum number of files of one owner. Default 100. */
  readonly quotaFiles?: number;
  /** Maximum size of all files of all owners. Default 1,000,000,000. */
  readonly totalBytes?: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const ID = /^[\w-]{16,64}$/;
/** Pattern of the owners' folders. Files with other names are ignored. */
const OWNER = /^[0-9a-f]{32}$/;
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

export function createUploads(options: UploadsOptions): Uploads {
  return new UploadFolder(options);
}

class UploadFolder implements Uploads {
  readonly #options: UploadsOptions;
  readonly #quotaBytes: number;
  readonly #quotaFiles: number;
  readonly #totalBytes: number;
  /** Size of all files; `undefined` if it is unknown. */
  #storedBytes: number | undefined;
  /** Serializes changes, because quotas are checked before a piece is written. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#quotaBytes = options.quotaBytes ?? 100_000_000;
    this.#quotaFiles = options.quotaFiles ?? 100;
    this.#totalBytes = options.totalBytes ?? 1_000_000_000;
  }

  async add(piece: UploadPiece): Promise<UploadAdded> {
    if (!ID.test(piece.id)) throw new TypeError(`"${piece.id}" is not the id of an upload`);
    return this.#enqueue(() => this.#add(piece));
  }

  async open(
    owner: string,
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly size: number } | undefined> {
    if (!ID.test(id)) return undefined;
    const path = join(this.#folderOf(owner), id);
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    return { body: Readable.toWeb(file.createReadStream()), size };
  }

  remove(owner: string): Promise<void> {
    return this.#enqueue(async () => {
      this.#storedBytes = undefined;
      await rm(this.#folderOf(owner), { recursive: true, force: true });
    });
  }

  async prune(needed: () => Promise<readonly UploadName[]>): Promise<number> {
    const { dir, now } = this.#options;
    // Computed before `needed` is called. A message may refer to a file that becomes a day old during the call.
    const before = now() - MAX_AGE_MS;
    const isAnyOld = (await this.#enqueue(() => olderThan(before, dir))).length > 0;
    if (!isAnyOld) return 0;
    const kept = new Set((await needed()).map(({ owner, id }) => join(this.#folderOf(owner), id)));
    return this.#enqueue(async () => {
      this.#storedBytes = undefined;
      const old = (await olderThan(before, dir)).filter((path) => !kept.has(path));
      for (const path of old) await rm(path);
      for (const folder of new Set(old.map(dirname)))
        if ((await namesIn(folder)).length === 0) await rmdir(folder);
      return old.length;
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work, work);
    this.#queue = result.catch(() => {});
    return result;
  }

  #folderOf(owner: string): string {
    return join(this.#options.dir, createHash("sha256").update(owner).digest("hex").slice(0, 32));
  }

  async #add({ owner, id, at, bytes: piece }: UploadPiece): Promise<UploadAdded> {
    const { maxBytes, dir } = this.#options;
    const folder = this.#folderOf(owner);
    const files = await filesIn(folder);
    const existing = files.find(({ name }) => name === id)?.size;
    const bytes = existing ?? 0;
    if (at !== bytes) return { kind: "out_of_order", bytes };
    if (bytes + piece.byteLength > maxBytes) return { kind: "too_large", bytes };
    const used = files.reduce((sum, { size }) => sum + size, 0);
    const isTooMany = existing === undefined && files.length >= this.#quotaFiles;
    if (isTooMany || used + piece.byteLength > this.#quotaBytes) return { kind: "full", bytes };
    const stored = this.#storedBytes ?? (await sumAllBytes(dir));
    if (stored + piece.byteLength > this.#totalBytes) return { kind: "full", bytes };
    this.#storedBytes = undefined;
    await makeFolder(folder);
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
    const file = await open(join(folder, id), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    try {
      await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    if (existing === undefined) await syncFolder(folder);
    this.#storedBytes = stored + piece.byteLength;
    return { kind: "added", bytes: bytes + piece.byteLength };
  }
}

async function sumAllBytes(dir: string): Promise<number> {
  let bytes = 0;
  for (const owner of await ownersIn(dir))
    for (const { size } of await filesIn(join(dir, owner))) bytes += size;
  return bytes;
}

/** Returns the files to which nothing was appended since a time. */
async function olderThan(before: number, dir: string): Promise<readonly string[]> {
  const old: string[] = [];
  for (const owner of await ownersIn(dir))
    for (const { name, changedAt } of await filesIn(join(dir, owner)))
      if (changedAt < before) old.push(join(dir, owner, name));
  return old;
}

async function ownersIn(dir: string): Promise<readonly string[]> {
  return (await namesIn(dir)).filter((name) => OWNER.test(name));
}

async function filesIn(folder: string) {
  const files = (await namesIn(folder)).map(async (name) => {
    const { size, mtimeMs: changedAt } = await stat(join(folder, name));
    return { name, size, changedAt };
  });
  return Promise.all(files);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  });
}
