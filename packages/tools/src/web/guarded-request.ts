import { readBody } from "./body.ts";
import {
  createPinnedAgent,
  createTargetResolver,
  parseUrl,
  type TargetOptions,
  toFetchError,
} from "./guarded-target.ts";

interface GuardedRequestOptions extends TargetOptions {
  /** Maximum size of the decompressed body, in bytes. Default: 1,000,000. */
  readonly maxBytes?: number;
  /** Time limit in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number;
}

/**
 * Creates a function like `fetch`, for any method, that connects only to public hosts. It returns responses with every
 * status and follows no redirect.
 *
 * @returns a function that throws FetchError, or the signal's reason if it is aborted
 */
export function createGuardedRequest(
  options: GuardedRequestOptions = {},
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const { maxBytes = 1_000_000, timeoutMs = 15_000 } = options;
  const resolveTarget = createTargetResolver(options);
  return async (input, init = {}) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const url = parseUrl(String(input));
    try {
      const target = await resolveTarget(url, signal);
      // `Request` converts every kind of body and adds its content type.
      const prepared = new Request(url, { ...init, signal: null, redirect: "manual" });
      const body = prepared.body === null ? null : Buffer.from(await prepared.arrayBuffer());
      const headers = { ...Object.fromEntries(prepared.headers), "accept-encoding": "gzip, br" };
      const { request } = await import("undici");
      const agent = await createPinnedAgent(target);
      try {
        const response = await request(url, {
          method: init.method ?? "GET",
          dispatcher: agent,
          headers,
          body,
          signal,
        });
        const encoding = response.headers["content-encoding"];
        const bytes = await readBody(
          response.body,
          Array.isArray(encoding) ? encoding[0] : encoding,
          maxBytes,
        );
        const isEmpty = [204, 205, 304].includes(response.statusCode);
        return new Response(isEmpty ? null : Uint8Array.from(bytes), {
          status: response.statusCode,
          headers: toHeaders(response.headers),
        });
      } finally {
        await agent.destroy();
      }
    } catch (error) {
      init.signal?.throwIfAborted();
      throw toFetchError(error, url);
    }
  };
}

/** The body is already decompressed. */
const OF_THE_WIRE = new Set(["content-encoding", "content-length", "transfer-encoding"]);

function toHeaders(received: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received))
    if (!OF_THE_WIRE.has(name)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return headers;
}
