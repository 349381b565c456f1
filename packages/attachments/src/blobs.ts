import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rename, rm, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { makeFolder, syncFolder } from "./durable-folders.ts";
import { getErrorCode } from "./types.ts";

/** Attachments that are waiting to be sent, as files named by the hash of their content. */
export interface Blobs {
  /**
   * Stores bytes durably.
   *
   * @returns the id: their SHA-256 as hexadecimal digits
   */
  put(bytes: Uint8Array): Promise<string>;
  /** Opens a blob. Resolves to `undefined` if it does not exist, and rejects if it cannot be opened at the moment. */
  open(id: string): Promise<ReadableStream<Uint8Array> | undefined>;
  /**
   * Copies a blob durably into a new file.
   *
   * @returns the number of bytes, or `undefined` if the blob does not exist or does not match its id
   */
  copy(id: string, file: string): Promise<number | undefined>;
  /** Returns the blobs that were last put before a time, in milliseconds since the epoch. */
  olderThan(before: number): Promise<readonly string[]>;
  /**
   * Removes blobs that were not put again since `before`.
   *
   * @returns the number of removed blobs
   */
  remove(ids: readonly string[], before: number): Promise<number>;
}

const ID = /^[0-9a-f]{64}$/;

/** Returns the id of a blob with this content. */
export function getContentId(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** @throws TypeError if `id` is not the id of a blob */
export function requireBlobId(id: string): string {
  if (!ID.test(id)) throw new TypeError(`"${id}" is not the id of a blob`);
  return id;
}

/** @param dir the folder, which is created on demand. Only one process may use it at a time. */
export function createBlobs(dir: string): Blobs {
  return new BlobFolder(dir);
}

class BlobFolder implements Blobs {
  readonly #dir: string;
  /** Serializes changes, so that a blob is not removed while it is being put again. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(dir: string) {
    this.#dir = dir;
  }

  put(bytes: Uint8Array): Promise<string> {
    const id = getContentId(bytes);
    const path = this.#pathOf(id);
    return this.#enqueue(async () => {
      const existing = await stat(path).catch(() => undefined);
      const now = new Date();
      if (existing?.isFile() === true && existing.size === bytes.byteLength) await utimes(path, now, now);
      else await this.#write(path, bytes);
      return id;
    });
  }

  async open(id: string): Promise<ReadableStream<Uint8Array> | undefined> {
    const handle = await openBlob(this.#pathOf(id));
    return handle && Readable.toWeb(handle.createReadStream());
  }

  copy(id: string, file: string): Promise<number | undefined> {
    return copyBlob(this.#pathOf(id), file, id);
  }

  async olderThan(before: number): Promise<readonly string[]> {
    const names = await readdir(this.#dir).catch(() => []);
    const old: string[] = [];
    for (const name of names) {
      const file = await stat(join(this.#dir, name)).catch(() => undefined);
      if (file === undefined || file.mtimeMs >= before) continue;
      // A crash left this file partially written.
      if (name.endsWith(".tmp")) await unlink(join(this.#dir, name)).catch(() => {});
      else if (ID.test(name)) old.push(name);
    }
    return old;
  }

  remove(ids: readonly string[], before: number): Promise<number> {
    return this.#enqueue(async () => {
      let removed = 0;
      for (const id of ids) {
        const file = await stat(this.#pathOf(id)).catch(() => undefined);
        if (file === undefined || file.mtimeMs >= before) continue;
        await unlink(this.#pathOf(id));
        removed += 1;
      }
      return removed;
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work, work);
    this.#queue = result.catch(() => {});
    return result;
  }

  #pathOf(id: string): string {
    return join(this.#dir, requireBlobId(id));
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    await makeFolder(this.#dir);
    await chmod(this.#dir, 0o700);
    const temporary = join(this.#dir, `.${randomBytes(8).toString("hex")}.tmp`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const handle = await open(temporary, flags, 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
      await handle.close();
      await rename(temporary, path);
      await syncFolder(this.#dir);
    } catch (error) {
      await handle.close().catch(() => {});
      await unlink(temporary).catch(() => {});
      throw error;
    }
  }
}

/** Returns `undefined` only if the file does not exist. Other errors, such as too many open files, may be temporary. */
function openBlob(path: string): Promise<FileHandle | undefined> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    const code = getErrorCode(error);
    if (code === "ENOENT" || code === "ELOOP") return undefined;
    throw error;
  });
}

const COPY_BUFFER_BYTES = 1 << 20;

async function copyBlob(from: string, to: string, id: string): Promise<number | undefined> {
  const source = await openBlob(from);
  if (source === undefined) return undefined;
  try {
    const target = await open(to, "wx", 0o600);
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      const piece = Buffer.allocUnsafe(COPY_BUFFER_BYTES);
      for (;;) {
        const { bytesRead } = await source.read(piece, 0, COPY_BUFFER_BYTES);
        if (bytesRead === 0) break;
        const read = piece.subarray(0, bytesRead);
        hash.update(read);
        await target.writeFile(read);
        bytes += bytesRead;
      }
      await target.sync();
    } finally {
      await target.close();
    }
    if (hash.digest("hex") === id) return bytes;
    await rm(to);
    return undefined;
  } finally {
    await source.close();
  }
}
