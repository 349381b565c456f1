import type { MemoryIndex } from "../database/memory-index.ts";
import { type Embedder, embeddable, normalized } from "./embedder.ts";

/** Limits of one request. Mistral rejects more than 16,384 tokens, and a token has at least one byte of UTF-8. */
const MAX_BATCH_TEXTS = 64;
const MAX_BATCH_BYTES = 16_000;
const BATCH_TIMEOUT_MS = 60_000;

/** Embeds all texts without a vector of this model, in batches. Each batch is stored immediately. */
export async function embedChunks(
  index: MemoryIndex,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<void> {
  const { model } = embedder;
  let dimensions: number | undefined;
  for (;;) {
    const batch = firstBatch(index.vectors.missing(model, MAX_BATCH_TEXTS));
    if (batch.length === 0) return;
    const vectors = await embedder.embed(
      batch.map(({ text }) => text),
      AbortSignal.any([signal, AbortSignal.timeout(BATCH_TIMEOUT_MS)]),
    );
    signal.throwIfAborted();
    const length = checkVectors(vectors, batch.length, model);
    if (dimensions === undefined) index.vectors.keepOnly(model, length);
    else if (length !== dimensions)
      throw new Error(`${model} returned vectors of length ${dimensions}, and then of length ${length}`);
    dimensions = length;
    index.vectors.put(
      model,
      batch.flatMap(({ hash }, at) => (vectors[at] === undefined ? [] : [[hash, normalized(vectors[at])]])),
    );
  }
}

interface MissingVector {
  readonly hash: string;
  readonly text: string;
}

/** Returns as many texts as fit into one request, each truncated to the length that is embedded. */
function firstBatch(missing: readonly MissingVector[]): readonly MissingVector[] {
  const texts = missing.map(({ hash, text }) => ({ hash, text: embeddable(text) }));
  let bytes = 0;
  const tooMany = texts.findIndex(({ text }) => {
    bytes += Buffer.byteLength(text);
    return bytes > MAX_BATCH_BYTES;
  });
  return tooMany < 0 ? texts : texts.slice(0, tooMany);
}

/** @returns the length of the vectors */
function checkVectors(vectors: readonly Float32Array[], wanted: number, model: string): number {
  const [length = 0, ...others] = new Set(vectors.map((vector) => vector.length));
  if (vectors.length === wanted && length > 0 && others.length === 0) return length;
  throw new Error(`${model} did not return one vector of equal length for each of ${wanted} texts`);
}
