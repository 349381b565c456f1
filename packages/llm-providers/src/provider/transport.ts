import type { FetchLike } from "./provider.ts";

/** A request to a model's server, which is always a POST. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a server answers. */
export interface HttpResponse {
  readonly status: number;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * The bytes as they are asked for. A reader that stops early leaves the rest to be drained, so that the connection
   * can be kept; aborting the request's signal cuts it.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends a request. It follows no redirects, since a model server has no business sending a key elsewhere, and has no
 * time-outs: a turn watches for silence.
 */
export type Transport = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

/** How long, and how much of it, the rest of a body is drained at most before the connection is closed. */
export const DRAIN_MS = 2_000;
export const DRAIN_BYTES = 131_072;

/** The request that `fetch` would make. Its own `Request` refuses addresses with a password in them. */
export async function requestFor(...[input, init]: Parameters<FetchLike>): Promise<HttpRequest> {
  // Not `instanceof Request`: servers put a class of their own in its place.
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const headers = new Headers(request?.headers ?? init?.headers);
  const body = await (request ?? new Response(init?.body)).text();
  return { url: request?.url ?? String(input), headers: Object.fromEntries(headers), body };
}

/** Over a host's own `fetch`. */
export function fetchTransport(fetch: FetchLike): Transport {
  return async ({ url, headers, body }, signal) => {
    const init = { method: "POST", headers: new Headers(headers), body, signal, redirect: "manual" } as const;
    const response = await fetch(url, init);
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      body: responseBytes(response, signal),
    };
  };
}

/**
 * The bytes of a response as they are asked for. A reader that stops after a whole answer leaves the rest to be
 * drained, so that the connection can be kept; aborting `signal` cuts it.
 */
export async function* responseBytes(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const cut = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cut, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    signal.removeEventListener("abort", cut);
    if (signal.aborted) cut();
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
    // It broke after its last word.
  } finally {
    clearTimeout(timer);
  }
}
