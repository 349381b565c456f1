import type { FetchLike } from "./provider.ts";

let undiciFetch: Promise<FetchLike> | undefined;

/**
 * The default `fetch` of a provider. Node's own gives up after five minutes without a byte, regardless of an account's
 * timeouts. This one leaves timeouts to the turn.
 */
export const defaultFetch: FetchLike = async (input, init) => {
  undiciFetch ??= createFetch();
  return (await undiciFetch)(input, init);
};

async function createFetch(): Promise<FetchLike> {
  const { Agent, fetch } = await import("undici");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  // The package declares its own `fetch` type, which is equivalent to the global one.
  const send = fetch as unknown as (...asked: Parameters<FetchLike>) => Promise<Response>;
  return (input, init) => send(input, Object.assign({}, init, { dispatcher }));
}

/** Limits for draining the rest of a response. Beyond them, the connection is closed. */
const DRAIN_MS = 2_000;
const DRAIN_BYTES = 131_072;

/**
 * Yields the bytes of a response. If the consumer stops after a complete answer, the rest is drained in the background
 * so that the connection can be reused. Aborting `signal` closes the connection.
 */
export async function* responseBytes(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    signal.removeEventListener("abort", cancel);
    if (signal.aborted) cancel();
    else void drain(reader);
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), DRAIN_MS).unref();
  try {
    let read = 0;
    for (let next = await reader.read(); !next.done && read < DRAIN_BYTES; next = await reader.read())
      read += next.value.length;
    await reader.cancel();
  } catch {
    // The connection broke after the answer was complete.
  } finally {
    clearTimeout(timer);
  }
}

/** Maximum length of a body or a single event, in UTF-16 code units. An image in base64 fits. */
export const MAX_BODY_LENGTH: number = 64 * 1024 * 1024;

/** Reads a body as text, up to {@link MAX_BODY_LENGTH}. */
export async function bodyText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MAX_BODY_LENGTH) break;
  }
  return text + decoder.decode();
}
