import { and, count, eq, ne, or, sql } from "drizzle-orm";
import { guardOf, type Key, opens } from "../access.ts";
import type { VectorEngine } from "../types.ts";
import { type Database, untilWritten } from "./open.ts";
import { chunk, vector } from "./schema.ts";
import type { Match } from "./terms.ts";

/** Vectors, by model and hash of the text. */
export interface VectorTable {
  readonly engine: VectorEngine;
  put(model: string, vectors: readonly (readonly [hash: string, values: Float32Array])[]): void;
  /** Returns the dimensions of a model's vectors, or `undefined` if the model has no vectors. */
  dimensions(model: string): number | undefined;
  /** Returns texts without a vector of this model, with their hashes. */
  missing(model: string, limit: number): { hash: string; text: string }[];
  countMissing(model: string): number;
  /** Returns the chunks with the highest cosine similarity to `wanted`, among those that the key opens. */
  nearest(model: string, wanted: Float32Array, key: Key, limit: number): Match[];
  /** Removes vectors of texts that no chunk has. */
  removeUnused(): void;
  /** Removes vectors of other models and of other dimensions. */
  keepOnly(model: string, dimensions: number): void;
}

const BYTES_PER_VALUE = Float32Array.BYTES_PER_ELEMENT;

interface Candidate {
  readonly n: number;
  readonly scope: string;
  readonly authorId: string | null;
  /** The vector, or its similarity if `sqlite-vec` has computed it. */
  readonly compared: Buffer | number;
}

/** @param engine `"sqlite-vec"` if that extension is loaded into the database */
export function createVectorTable({ db, raw }: Database, engine: VectorEngine): VectorTable {
  const ofChunk = (model: string) => and(eq(vector.hash, chunk.hash), eq(vector.model, model));
  const put = db
    .insert(vector)
    .values({
      hash: sql.placeholder("hash"),
      model: sql.placeholder("model"),
      values: sql.placeholder("values"),
    })
    .onConflictDoNothing()
    .prepare();
  const compared = engine === "sqlite-vec" ? '1 - vec_distance_cosine(v."values", @wanted)' : 'v."values"';
  // A model that changed under the same name may have vectors of other dimensions.
  const candidates = raw.prepare<object, Candidate>(
    `SELECT c.n, c.scope, c.author_id AS authorId, ${compared} AS compared
     FROM chunk c JOIN vector v ON v.hash = c.hash AND v.model = @model
     WHERE length(v."values") = length(@wanted)`,
  );

  const totals = untilWritten(raw, () => {
    const all = db.select({ count: count() }).from(chunk).get();
    const byModel = db
      .select({ model: vector.model, count: count() })
      .from(chunk)
      .innerJoin(vector, eq(vector.hash, chunk.hash))
      .groupBy(vector.model)
      .all();
    return { chunks: all?.count ?? 0, embedded: new Map(byModel.map((row) => [row.model, row.count])) };
  });

  return {
    engine,
    put(model, vectors) {
      raw
        .transaction(() => {
          for (const [hash, values] of vectors) put.run({ model, hash, values: bytesOf(values) });
        })
        .immediate();
    },
    dimensions(model) {
      const [row] = db
        .select({ values: vector.values })
        .from(vector)
        .where(eq(vector.model, model))
        .limit(1)
        .all();
      return row === undefined ? undefined : row.values.length / BYTES_PER_VALUE;
    },
    missing: (model, limit) =>
      db
        .selectDistinct({ hash: chunk.hash, text: chunk.text })
        .from(chunk)
        .leftJoin(vector, ofChunk(model))
        .where(sql`${vector.hash} IS NULL`)
        .limit(limit)
        .all(),
    countMissing(model) {
      const { chunks, embedded } = totals();
      return chunks - (embedded.get(model) ?? 0);
    },
    nearest: (model, wanted, key, limit) =>
      nearestOf(candidates.iterate({ model, wanted: bytesOf(wanted) }), wanted, key, limit),
    removeUnused() {
      db.delete(vector).where(sql`${vector.hash} NOT IN (SELECT ${chunk.hash} FROM ${chunk})`).run();
    },
    keepOnly(model, dimensions) {
      db.delete(vector)
        .where(or(ne(vector.model, model), sql`length(${vector.values}) <> ${dimensions * BYTES_PER_VALUE}`))
        .run();
    },
  };
}

/** Returns the `limit` most similar candidates that the key opens. */
function nearestOf(candidates: Iterable<Candidate>, wanted: Float32Array, key: Key, limit: number): Match[] {
  const best: Match[] = [];
  for (const row of candidates) {
    const score = typeof row.compared === "number" ? row.compared : dot(floatsOf(row.compared), wanted);
    if (best.length === limit && score <= (best.at(-1)?.score ?? 0)) continue;
    if (!opens(key, guardOf(row))) continue;
    const place = best.findIndex((match) => match.score < score);
    best.splice(place < 0 ? best.length : place, 0, { n: row.n, score });
    best.length = Math.min(best.length, limit);
  }
  return best;
}

function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

function floatsOf(bytes: Buffer): Float32Array {
  // Copied, because the driver's buffers may not be aligned for floats.
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** The dot product, which is the cosine for vectors of length 1. */
function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
