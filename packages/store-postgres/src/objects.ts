import { StoreError } from "@signalbox/store/errors";
import type { ObjectStore } from "@signalbox/store/types";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { object, objectPart } from "./schema/index.ts";

const PART_BYTES = 1 << 20;

export function createObjectStore({ database }: Context): ObjectStore {
  async function readPart(key: string, n: number): Promise<Uint8Array | undefined> {
    const [row] = await database.query((db) =>
      db
        .select({ content: objectPart.content })
        .from(objectPart)
        .where(and(eq(objectPart.key, key), eq(objectPart.n, n))),
    );
    return row?.content;
  }

  return {
    put: (key, bytes) =>
      database.write(async ({ db, send, change }) => {
        const set = { size: bytes.byteLength, changedAt: sql<number>`${database.now()}` };
        // Locks the object against other writers.
        await change(
          db
            .insert(object)
            .values({ key, ...set })
            .onConflictDoUpdate({ target: object.key, set }),
        );
        send(db.delete(objectPart).where(eq(objectPart.key, key)));
        for (let at = 0, n = 0; at < bytes.byteLength; at += PART_BYTES, n += 1) {
          // Waits for each part, so that a large object is not in memory twice.
          const content = bytes.subarray(at, at + PART_BYTES);
          await change(db.insert(objectPart).values({ key, n, content }));
        }
      }, `object ${key}`),

    async open(key) {
      const [found] = await database.query((db) =>
        db.select({ size: object.size }).from(object).where(eq(object.key, key)),
      );
      if (found === undefined) return undefined;
      let read = 0;
      let n = 0;
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (read >= found.size) {
              controller.close();
              return;
            }
            const content = await readPart(key, n);
            if (content === undefined) throw new StoreError("conflict", `The object ${key} was removed.`);
            read += content.byteLength;
            n += 1;
            controller.enqueue(content);
          },
        },
        { highWaterMark: 0 },
      );
    },

    list: (prefix) =>
      database.query((db) =>
        db.select().from(object).where(sql`starts_with(${object.key}, ${prefix})`).orderBy(asc(object.key)),
      ),

    remove: (keys) =>
      database.write(async ({ db, send }) => {
        if (keys.length === 0) return;
        send(db.delete(object).where(inArray(object.key, [...keys])));
        send(db.delete(objectPart).where(inArray(objectPart.key, [...keys])));
      }),
  };
}
