/** Computes embeddings: a provider's API, or a local model. */
export interface Embedder {
  /**
   * Name of the model. Only vectors of the same model are compared. After a change of the model, all vectors are
   * recomputed.
   */
  readonly model: string;
  /**
   * Returns a vector for each text, in order, all with the same dimensions. If it rejects, the texts are retried later,
   * and searches use only words in the meantime.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/**
 * Maximum number of UTF-8 bytes of a text that are embedded. A token has at least one byte, and OpenAI rejects more
 * than 8,192 tokens.
 */
const MAX_BYTES = 8_000;
const encoder = new TextEncoder();

/** Truncates a text to a length that every provider accepts. */
export function embeddable(text: string): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(MAX_BYTES)).read);
}

/** Scales a vector to length 1, so that the dot product of two is their cosine. */
export function normalized(values: Float32Array): Float32Array {
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}
