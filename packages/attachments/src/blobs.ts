import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rename, rm, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { makeFolder, syncFolder } from "./folders.ts";
import { codeOf } from "./ports.ts";

/** Bytes that wait to be sent, in files named by what they hold. */
export interface Blobs {
  /** Keeps bytes; they are on the disk when it resolves. Gives their SHA-256 as hexadecimal digits. */
  put(bytes: Uint8Array): Promise<string>;
  /** Undefined if there is no such blob; rejects if it cannot be opened right now. */
  open(id: string): Promise<ReadableStream<Uint8Array> | undefined>;
  /**
   * Copies a blob into a new file, on the disk when it resolves. Gives the number of bytes; undefined where there is no
   * such blob, or it is not what its id says.
   */
  copy(id: string, file: string): Promise<number | undefined>;
  /** Those that were put for the last time before `before`, in milliseconds since the epoch. */
  olderThan(before: number): Promise<readonly string[]>;
  /** Removes those of `ids` that were not put again since `before`. Gives how many. */
  remove(ids: readonly string[], before: number): Promise<number>;
}

const ID = /^[0-9a-f]{64}$/;

/** The folder is made when it is first needed. One process at a time works on it. */
export function createBlobs(dir: string): Blobs {
  return new BlobFolder(dir);
}

class BlobFolder implements Blobs {
  readonly #dir: string;
  /** A blob must not be removed while it is put again. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(dir: string) {
    this.#dir = dir;
  }

  put(bytes: Uint8Array): Promise<string> {
    const id = createHash("sha256").update(bytes).digest("hex");
    const path = this.#pathOf(id);
    return this.#inTurn(async () => {
      const kept = await stat(path).catch(() => undefined);
      const now = new Date();
      if (kept?.isFile() === true && kept.size === bytes.byteLength) await utimes(path, now, now);
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
      // What a crash left half written belongs to nobody.
      if (name.endsWith(".tmp")) await unlink(join(this.#dir, name)).catch(() => {});
      else if (ID.test(name)) old.push(name);
    }
    return old;
  }

  remove(ids: readonly string[], before: number): Promise<number> {
    return this.#inTurn(async () => {
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

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }

  #pathOf(id: string): string {
    if (!ID.test(id)) throw new TypeError("not the id of a blob");
    return join(this.#dir, id);
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

/** Undefined where there is none: one that cannot be opened just now, as where too many files are open, is there. */
function openBlob(path: string): Promise<FileHandle | undefined> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ELOOP") return undefined;
    throw error;
  });
}

/** Read at once while a blob is copied. */
const PIECE = 1 << 20;

async function copyBlob(from: string, to: string, id: string): Promise<number | undefined> {
  const source = await openBlob(from);
  if (source === undefined) return undefined;
  try {
    const target = await open(to, "wx", 0o600);
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      const piece = Buffer.allocUnsafe(PIECE);
      for (;;) {
        const { bytesRead } = await source.read(piece, 0, PIECE);
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
