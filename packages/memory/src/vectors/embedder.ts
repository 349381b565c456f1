/** Computes embeddings: a provider's API, or a local model. */
export interface Embedder {
  /** Name of the model. Vectors are compared only with those of the same model; after a change, all are recomputed. */
  readonly model: string;
  /**
   * Returns a vector for each text, in order, all of one length. If it rejects, the texts are tried again later, and
   * searches use words meanwhile.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/**
 * The part of a text that is embedded, in bytes of UTF-8. A token has at least one byte, and OpenAI rejects more than
 * 8,192 tokens.
 */
const MAX_BYTES = 8_000;
const encoder = new TextEncoder();

/** Cuts a text to a length that every provider accepts. */
export function embeddable(text: string): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(MAX_BYTES)).read);
}

/** Scales a vector to length 1, so that the dot product of two is their cosine. */
export function normalized(values: Float32Array): Float32Array {
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}
