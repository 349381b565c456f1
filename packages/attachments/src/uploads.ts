import { constants } from "node:fs";
import { open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { makeFolder, syncFolder } from "./durable-folders.ts";
import { getErrorCode } from "./types.ts";
import type { UploadAdded, UploadLimits, UploadName, UploadPiece, Uploads } from "./upload-contract.ts";
import {
  checkPiece,
  getOwnerFolder,
  isUploadId,
  MAX_AGE_MS,
  type Quotas,
  requireUploadId,
  resolveQuotas,
} from "./upload-quotas.ts";

export interface UploadsOptions extends UploadLimits {
  /** Created on demand. Only one process may use it at a time. */
  readonly dir: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Pattern of the owners' folders. Files with other names are ignored. */
const OWNER = /^[0-9a-f]{32}$/;

export function createUploads(options: UploadsOptions): Uploads {
  return new UploadFolder(options);
}

class UploadFolder implements Uploads {
  readonly #options: UploadsOptions;
  readonly #quotas: Quotas;
  /** Size of all files; `undefined` if it is unknown. */
  #storedBytes: number | undefined;
  /** Serializes changes, because quotas are checked before a piece is written. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#quotas = resolveQuotas(options);
  }

  async add(piece: UploadPiece): Promise<UploadAdded> {
    requireUploadId(piece.id);
    return this.#enqueue(() => this.#add(piece));
  }

  async open(
    owner: string,
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly size: number } | undefined> {
    if (!isUploadId(id)) return undefined;
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
    return join(this.#options.dir, getOwnerFolder(owner));
  }

  async #add({ owner, id, at, bytes: piece }: UploadPiece): Promise<UploadAdded> {
    const { dir } = this.#options;
    const folder = this.#folderOf(owner);
    const files = await filesIn(folder);
    const existing = files.find(({ name }) => name === id)?.size;
    const stored = this.#storedBytes ?? (await sumAllBytes(dir));
    const refusal = checkPiece(
      { at, size: piece.byteLength },
      { existing, sizes: files.map(({ size }) => size), stored },
      this.#quotas,
    );
    if (refusal !== undefined) return refusal;
    const bytes = existing ?? 0;
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
