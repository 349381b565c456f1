import type { ObjectInfo, ObjectStore } from "@signalbox/store/types";
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

/** Time for which the size of all uploads is assumed not to change elsewhere, in milliseconds. */
const TOTAL_MS = 60_000;
/** Digits of an offset in a key, so that keys sort like offsets. */
const OFFSET_DIGITS = 12;

export interface ObjectUploadsOptions extends UploadLimits {
  readonly objects: ObjectStore;
  /** First part of the keys, for example `uploads`. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Creates uploads that several gateways share. Each piece is an object: `<name>/<owner>/<id>/<offset>`. */
export function createObjectUploads(options: ObjectUploadsOptions): Uploads {
  return new ObjectUploads(options);
}

/** The pieces of one file, in order. */
interface StoredFile {
  readonly path: string;
  readonly size: number;
  readonly changedAt: number;
  readonly keys: readonly string[];
}

class ObjectUploads implements Uploads {
  readonly #options: ObjectUploadsOptions;
  readonly #quotas: Quotas;
  /** Size of all files, as far as this gateway knows. */
  #total: { bytes: number; readonly at: number } | undefined;
  /** Serializes changes, because quotas are checked before a piece is stored. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: ObjectUploadsOptions) {
    this.#options = options;
    this.#quotas = resolveQuotas(options);
  }

  async add(piece: UploadPiece): Promise<UploadAdded> {
    requireUploadId(piece.id);
    return this.#enqueue(() => this.#add(piece));
  }

  async open(owner: string, id: string) {
    if (!isUploadId(id)) return undefined;
    const [file] = await this.#list(`${this.#folderOf(owner)}${id}/`);
    if (file === undefined) return undefined;
    return { body: this.#read(file.keys), size: file.size };
  }

  remove(owner: string): Promise<void> {
    return this.#enqueue(async () => {
      this.#total = undefined;
      await this.#removeFiles(await this.#list(this.#folderOf(owner)));
    });
  }

  async prune(needed: () => Promise<readonly UploadName[]>): Promise<number> {
    // Computed before `needed` is called. A message may refer to a file that becomes a day old during the call.
    const before = this.#options.now() - MAX_AGE_MS;
    const old = (await this.#list(this.#root())).filter(({ changedAt }) => changedAt < before);
    if (old.length === 0) return 0;
    const kept = new Set((await needed()).map(({ owner, id }) => `${this.#folderOf(owner)}${id}`));
    const unneeded = old.filter(({ path }) => !kept.has(path));
    this.#total = undefined;
    await this.#removeFiles(unneeded);
    return unneeded.length;
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work, work);
    this.#queue = result.catch(() => {});
    return result;
  }

  #root(): string {
    return `${this.#options.name}/`;
  }

  #folderOf(owner: string): string {
    return `${this.#root()}${getOwnerFolder(owner)}/`;
  }

  async #add({ owner, id, at, bytes: piece }: UploadPiece): Promise<UploadAdded> {
    const folder = this.#folderOf(owner);
    const path = `${folder}${id}`;
    const files = await this.#list(folder);
    const existing = files.find((file) => file.path === path)?.size;
    const total = await this.#getTotal();
    const size = piece.byteLength;
    const uploads = { existing, sizes: files.map((file) => file.size), stored: total.bytes };
    const refusal = checkPiece({ at, size }, uploads, this.#quotas);
    if (refusal !== undefined) return refusal;
    await this.#options.objects.put(`${path}/${String(at).padStart(OFFSET_DIGITS, "0")}`, piece);
    total.bytes += size;
    return { kind: "added", bytes: at + size };
  }

  async #getTotal(): Promise<{ bytes: number }> {
    const { now } = this.#options;
    if (this.#total === undefined || now() - this.#total.at > TOTAL_MS) {
      const files = await this.#list(this.#root());
      this.#total = { bytes: files.reduce((sum, { size }) => sum + size, 0), at: now() };
    }
    return this.#total;
  }

  async #list(prefix: string): Promise<readonly StoredFile[]> {
    const pieces = await this.#options.objects.list(prefix);
    const byPath = Map.groupBy(pieces, ({ key }) => key.slice(0, key.lastIndexOf("/")));
    return [...byPath].map(([path, own]) => ({
      path,
      size: getContiguousSize(own),
      changedAt: Math.max(...own.map(({ changedAt }) => changedAt)),
      keys: own.map(({ key }) => key),
    }));
  }

  #read(keys: readonly string[]): ReadableStream<Uint8Array> {
    const { objects } = this.#options;
    async function* readPieces() {
      for (const key of keys) {
        const body = await objects.open(key);
        if (body === undefined) throw new Error("the upload was removed while it was read");
        yield* body;
      }
    }
    return ReadableStream.from(readPieces());
  }

  async #removeFiles(files: readonly StoredFile[]): Promise<void> {
    await this.#options.objects.remove(files.flatMap(({ keys }) => keys));
  }
}

/** Returns the size up to the first gap. Pieces are in the order of their offsets. */
function getContiguousSize(pieces: readonly ObjectInfo[]): number {
  let end = 0;
  for (const { key, size } of pieces) {
    if (Number(key.slice(key.lastIndexOf("/") + 1)) !== end) break;
    end += size;
  }
  return end;
}
