/** What makes vectors of texts: a provider's embeddings, or a model on this machine. */
export interface Embedder {
  /** Names the vectors: those of another name are not compared with these, and made anew. */
  readonly model: string;
  /**
   * A vector for each text, in their order, all of one length. May reject: the texts then wait, and searches use words
   * meanwhile.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/** Bytes of UTF-8 that are embedded of a text. A token has at least one, and OpenAI refuses more than 8,192 tokens. */
const MOST_BYTES = 8_000;
const encoder = new TextEncoder();

/** As much of a text as every provider takes. */
export function embeddable(text: string): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(MOST_BYTES)).read);
}

/** At length 1, so that the product of two is their cosine. */
export function normalised(values: Float32Array): Float32Array {
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}
