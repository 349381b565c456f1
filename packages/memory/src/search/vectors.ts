import { reasonOf } from "@signalbox/agent-core";
import type { MemoryIndex } from "../database/memory-index.ts";
import { type Embedder, embeddable, normalised } from "../vectors/embedder.ts";

export type QueryVector =
  | { readonly kind: "some"; readonly model: string; readonly values: Float32Array }
  | { readonly kind: "none"; readonly reason: string };

/** Whoever asks is waiting; words alone are better than nothing for so long. */
const QUERY_MS = 2_000;

/** A query as a vector that can be compared with those in the index. */
export async function queryVector(
  query: string,
  embedder: Embedder | undefined,
  index: MemoryIndex,
  signal: AbortSignal,
): Promise<QueryVector> {
  if (embedder === undefined) return { kind: "none", reason: "no embeddings are configured" };
  const { model } = embedder;
  const dimensions = index.vectors.dimensions(model);
  if (dimensions === undefined) return { kind: "none", reason: `${model} has not embedded anything yet` };
  let values: Float32Array | undefined;
  try {
    [values] = await embedder.embed(
      [embeddable(query)],
      AbortSignal.any([signal, AbortSignal.timeout(QUERY_MS)]),
    );
  } catch (error) {
    const why = reasonOf(error);
    return { kind: "none", reason: `the embedding provider is not reachable (${model}: ${why})` };
  }
  if (values === undefined || values.length === 0)
    return { kind: "none", reason: `the embedding provider gave no vector (${model})` };
  if (values.length === dimensions) return { kind: "some", model, values: normalised(values) };
  index.vectors.keepOnly(model, values.length);
  return { kind: "none", reason: `${model} now gives other vectors than before; all are being made anew` };
}
