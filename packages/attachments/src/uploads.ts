import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { makeFolder, syncFolder } from "./folders.ts";
import { codeOf } from "./ports.ts";

/** Files that clients send piece by piece, kept until a message that names them is read. */
export interface Uploads {
  /** Adds a piece to the end of a file of `owner`; the first one creates the file. */
  add(piece: UploadPiece): Promise<UploadAdded>;
  /** Undefined if there is no such file, or no longer. */
  open(
    owner: string,
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly size: number } | undefined>;
  /** Removes all files of an owner. */
  remove(owner: string): Promise<void>;
  /**
   * Removes files that nothing was added to for a day. Gives how many.
   * @param needed gives those that are to be read yet, however old they are
   */
  prune(needed: () => Promise<readonly UploadName[]>): Promise<number>;
}

/** A file by what it is added and opened under. */
export interface UploadName {
  /** The owner, a client or a message: no one else can name the file, and each owner's total is counted separately. */
  readonly owner: string;
  /** Made by the client; 16 to 64 letters, digits, `_` and `-`. */
  readonly id: string;
}

export interface UploadPiece extends UploadName {
  /** How many bytes of the file come before it. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/**
 * `bytes` is how much of the file is there now. `out_of_order`: the piece does not follow on that. `too_large`: the
 * file would be. `full`: the owner, or all of them together, keep too much already.
 */
export interface UploadAdded {
  readonly kind: "added" | "out_of_order" | "too_large" | "full";
  readonly bytes: number;
}

export interface UploadsOptions {
  /** Made when it is first needed. One process at a time works on it. */
  readonly dir: string;
  /** Of one file. */
  readonly maxBytes: number;
  /** Of all files of one owner. Default 100,000,000. */
  readonly quotaBytes?: number;
  /** Files of one owner. Default 100. */
  readonly quotaFiles?: number;
  /** Bytes of all files of all owners: however many there are, they do not fill the disk. Default 1,000,000,000. */
  readonly totalBytes?: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const ID = /^[\w-]{16,64}$/;
/** The folder of an owner: whatever else lies beside them is left alone. */
const OWNER = /^[0-9a-f]{32}$/;
const KEPT_MS = 24 * 60 * 60 * 1000;

export function createUploads(options: UploadsOptions): Uploads {
  return new UploadFolder(options);
}

class UploadFolder implements Uploads {
  readonly #options: UploadsOptions;
  readonly #quotaBytes: number;
  readonly #quotaFiles: number;
  readonly #totalBytes: number;
  /** Of all owners; not known where a piece was written in part, or files were removed. */
  #keptBytes: number | undefined;
  /** What is added is counted before, so one piece follows the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#quotaBytes = options.quotaBytes ?? 100_000_000;
    this.#quotaFiles = options.quotaFiles ?? 100;
    this.#totalBytes = options.totalBytes ?? 1_000_000_000;
  }

  async add(piece: UploadPiece): Promise<UploadAdded> {
    if (!ID.test(piece.id)) throw new TypeError("not the id of an upload");
    return this.#inTurn(() => this.#add(piece));
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
    return this.#inTurn(async () => {
      this.#keptBytes = undefined;
      await rm(this.#folderOf(owner), { recursive: true, force: true });
    });
  }

  async prune(needed: () => Promise<readonly UploadName[]>): Promise<number> {
    const { dir, now } = this.#options;
    // Of the time before it is asked what is needed: what comes to be a day old meanwhile may be named by then.
    const before = now() - KEPT_MS;
    const isAnyOld = (await this.#inTurn(() => olderThan(before, dir))).length > 0;
    if (!isAnyOld) return 0;
    const kept = new Set((await needed()).map(({ owner, id }) => join(this.#folderOf(owner), id)));
    return this.#inTurn(async () => {
      this.#keptBytes = undefined;
      const old = (await olderThan(before, dir)).filter((path) => !kept.has(path));
      for (const path of old) await rm(path);
      for (const folder of new Set(old.map(dirname)))
        if ((await namesIn(folder)).length === 0) await rmdir(folder);
      return old.length;
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }

  #folderOf(owner: string): string {
    return join(this.#options.dir, createHash("sha256").update(owner).digest("hex").slice(0, 32));
  }

  async #add({ owner, id, at, bytes: piece }: UploadPiece): Promise<UploadAdded> {
    const { maxBytes, dir } = this.#options;
    const folder = this.#folderOf(owner);
    const files = await filesIn(folder);
    const there = files.find(({ name }) => name === id)?.size;
    const bytes = there ?? 0;
    if (at !== bytes) return { kind: "out_of_order", bytes };
    if (bytes + piece.byteLength > maxBytes) return { kind: "too_large", bytes };
    const used = files.reduce((sum, { size }) => sum + size, 0);
    const isOneMore = there === undefined && files.length >= this.#quotaFiles;
    if (isOneMore || used + piece.byteLength > this.#quotaBytes) return { kind: "full", bytes };
    const kept = this.#keptBytes ?? (await bytesOfAll(dir));
    if (kept + piece.byteLength > this.#totalBytes) return { kind: "full", bytes };
    this.#keptBytes = undefined;
    await makeFolder(folder);
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
    const file = await open(join(folder, id), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    try {
      await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    if (there === undefined) await syncFolder(folder);
    this.#keptBytes = kept + piece.byteLength;
    return { kind: "added", bytes: bytes + piece.byteLength };
  }
}

async function bytesOfAll(dir: string): Promise<number> {
  let bytes = 0;
  for (const owner of await ownersIn(dir))
    for (const { size } of await filesIn(join(dir, owner))) bytes += size;
  return bytes;
}

/** The files that nothing was added to since then. */
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
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}
