import { reasonOf } from "@signalbox/agent-core";
import type { MemoryIndex } from "../database/memory-index.ts";
import { type Embedder, embeddable, normalized } from "../vectors/embedder.ts";

export type QueryVector =
  | { readonly kind: "some"; readonly model: string; readonly values: Float32Array }
  | { readonly kind: "none"; readonly reason: string };

/** Time limit for embedding a query, in milliseconds. After that, the search uses only words. */
const QUERY_TIMEOUT_MS = 2_000;

/** Embeds a query, if the index has vectors of the same model and dimensions. */
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
      AbortSignal.any([signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)]),
    );
  } catch (error) {
    const why = reasonOf(error);
    return { kind: "none", reason: `the embedding provider failed (${model}: ${why})` };
  }
  if (values === undefined || values.length === 0)
    return { kind: "none", reason: `the embedding provider returned no vector (${model})` };
  if (values.length === dimensions) return { kind: "some", model, values: normalized(values) };
  index.vectors.keepOnly(model, values.length);
  return {
    kind: "none",
    reason: `${model} now returns vectors of another length; all texts are being embedded again`,
  };
}
