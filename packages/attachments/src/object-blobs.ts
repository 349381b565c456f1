import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ObjectInfo, ObjectStore } from "@signalbox/store/types";
import { type Blobs, getContentId, requireBlobId } from "./blobs.ts";

const PREFIX = "media/";
/** Age up to which an existing copy is used again, in milliseconds. Younger copies are not pruned. */
const REUSE_MS = 1_800_000;

/**
 * Creates blobs that several gateways share. Each `put` stores a copy of its own, so that a gateway that prunes an old
 * copy cannot remove one that another gateway needs.
 *
 * @param now returns milliseconds since the epoch
 */
export function createObjectBlobs(objects: ObjectStore, now: () => number): Blobs {
  const copiesOf = (id: string): Promise<readonly ObjectInfo[]> =>
    objects.list(`${PREFIX}${requireBlobId(id)}/`);

  async function open(id: string): Promise<ReadableStream<Uint8Array> | undefined> {
    const copies = await copiesOf(id);
    for (const { key } of copies.toSorted((a, b) => b.changedAt - a.changedAt)) {
      const body = await objects.open(key);
      if (body !== undefined) return body;
    }
    return undefined;
  }

  return {
    async put(bytes) {
      const id = getContentId(bytes);
      const existing = await copiesOf(id);
      const isRecent = existing.some(
        ({ size, changedAt }) => size === bytes.byteLength && now() - changedAt < REUSE_MS,
      );
      if (!isRecent) await objects.put(`${PREFIX}${id}/${randomUUID()}`, bytes);
      return id;
    },
    open,
    async copy(id, file) {
      const body = await open(id);
      if (body === undefined) return undefined;
      const hash = createHash("sha256");
      let size = 0;
      const verify = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          size += chunk.byteLength;
          done(null, chunk);
        },
      });
      await pipeline(
        Readable.from(body),
        verify,
        createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }),
      );
      if (hash.digest("hex") === id) return size;
      await rm(file);
      return undefined;
    },
    async olderThan(before) {
      const newest = new Map<string, number>();
      for (const { key, changedAt } of await objects.list(PREFIX)) {
        const id = getId(key);
        newest.set(id, Math.max(newest.get(id) ?? 0, changedAt));
      }
      return [...newest].flatMap(([id, changedAt]) => (changedAt < before ? [id] : []));
    },
    async remove(ids, before) {
      const unwanted = new Set(ids);
      const old = (await objects.list(PREFIX)).filter(
        ({ key, changedAt }) => unwanted.has(getId(key)) && changedAt < before,
      );
      await objects.remove(old.map(({ key }) => key));
      return new Set(old.map(({ key }) => getId(key))).size;
    },
  };
}

function getId(key: string): string {
  return key.slice(PREFIX.length).split("/", 1)[0] ?? "";
}
