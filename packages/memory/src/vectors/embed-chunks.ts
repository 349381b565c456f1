import type { MemoryIndex } from "../database/memory-index.ts";
import { type Embedder, normalised } from "./embedder.ts";

const BATCH = 64;
/** Of a text; models cut off what is longer. */
const MAX_CHARS = 8_000;
const BATCH_MS = 60_000;

/** Embeds whatever has no vector of this model yet, in batches, each kept as it comes. */
export async function embedChunks(
  index: MemoryIndex,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<void> {
  const { model } = embedder;
  let dimensions: number | undefined;
  for (;;) {
    const batch = index.vectors.missing(model, BATCH);
    if (batch.length === 0) return;
    const texts = batch.map(({ text }) => text.slice(0, MAX_CHARS));
    const made = await embedder.embed(texts, AbortSignal.any([signal, AbortSignal.timeout(BATCH_MS)]));
    signal.throwIfAborted();
    const length = checkedLength(made, batch.length, model);
    if (dimensions === undefined) index.vectors.keepOnly(model, length);
    else if (length !== dimensions) throw new Error(`${model} gave ${dimensions} values, and then ${length}`);
    dimensions = length;
    index.vectors.put(
      model,
      batch.flatMap(({ hash }, at) => (made[at] === undefined ? [] : [[hash, normalised(made[at])]])),
    );
  }
}

/** How many values each of the vectors has. */
function checkedLength(made: readonly Float32Array[], wanted: number, model: string): number {
  const [length = 0, ...others] = new Set(made.map((vector) => vector.length));
  if (made.length === wanted && length > 0 && others.length === 0) return length;
  throw new Error(`${model} did not give one vector of the same length for each of ${wanted} texts`);
}
