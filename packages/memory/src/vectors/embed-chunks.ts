import type { MemoryIndex } from "../database/memory-index.ts";
import { type Embedder, embeddable, normalised } from "./embedder.ts";

/** Texts of one request, and their bytes of UTF-8: Mistral refuses more than 16,384 tokens at once. */
const BATCH = 64;
const BATCH_BYTES = 16_000;
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
    const batch = batchOf(index.vectors.missing(model, BATCH));
    if (batch.length === 0) return;
    const made = await embedder.embed(
      batch.map(({ text }) => text),
      AbortSignal.any([signal, AbortSignal.timeout(BATCH_MS)]),
    );
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

interface Missing {
  readonly hash: string;
  readonly text: string;
}

/** As many of the first as one request may have, each as far as it is embedded. */
function batchOf(missing: readonly Missing[]): readonly Missing[] {
  const texts = missing.map(({ hash, text }) => ({ hash, text: embeddable(text) }));
  let bytes = 0;
  const tooMany = texts.findIndex(({ text }) => {
    bytes += Buffer.byteLength(text);
    return bytes > BATCH_BYTES;
  });
  return tooMany < 0 ? texts : texts.slice(0, tooMany);
}

/** How many values each of the vectors has. */
function checkedLength(made: readonly Float32Array[], wanted: number, model: string): number {
  const [length = 0, ...others] = new Set(made.map((vector) => vector.length));
  if (made.length === wanted && length > 0 && others.length === 0) return length;
  throw new Error(`${model} did not give one vector of the same length for each of ${wanted} texts`);
}
