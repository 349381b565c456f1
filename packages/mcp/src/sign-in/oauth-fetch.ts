import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type AuthorityFetch, McpSignInError } from "./types.ts";

/** Maximum size in bytes of a response of an authorization server. */
const MAX_RESPONSE_BYTES = 200_000;
/** Time limit of each request, in milliseconds. */
const REQUEST_MS = 15_000;

/**
 * Limits requests to authorization servers: encrypted, except on loopback and to the origin of the server itself, with
 * a time limit and a limit on the response.
 *
 * @param serverUrl the configured URL of the server
 */
export function createOAuthFetch(fetch: AuthorityFetch, serverUrl: string): FetchLike {
  return async (input, init) => {
    const url = new URL(input);
    assertSafeEndpoint(url, serverUrl);
    const limit = AbortSignal.timeout(REQUEST_MS);
    const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await fetch(url, { ...init, signal }, serverUrl);
    const { status, statusText, headers } = response;
    // A response with one of these statuses has no body.
    const hasBody = ![101, 204, 205, 304].includes(status);
    const body = hasBody ? await readLimited(response, url) : null;
    return new Response(body, { status, statusText, headers: withoutEncoding(headers) });
  };
}

/** @throws McpSignInError if the URL is not safe for codes and tokens */
export function assertSafeEndpoint(url: URL, serverUrl: string): void {
  const isEncrypted = url.protocol === "https:";
  const isNear = url.protocol === "http:" && (isLoopback(url) || url.origin === new URL(serverUrl).origin);
  if ((isEncrypted || isNear) && url.username === "" && url.password === "") return;
  throw new McpSignInError(
    "bad_metadata",
    `the sign-in would use ${url.protocol}//${url.host}, which is not encrypted or not a web address`,
  );
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

async function readLimited(response: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new McpSignInError("bad_metadata", `${url.host} sent more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

/** The body is already decompressed. */
function withoutEncoding(headers: Headers): Headers {
  const changed = new Headers(headers);
  changed.delete("content-encoding");
  changed.delete("content-length");
  return changed;
}
