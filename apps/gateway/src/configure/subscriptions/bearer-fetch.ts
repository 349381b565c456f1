import { defaultFetch, type FetchLike, responseBytes } from "@signalbox/llm-providers";
import type { CredentialsOf } from "./credentials.ts";
import { type Refusal, refuse } from "./errors.ts";

/** Name of this program in each request. */
export const USER_AGENT = "signalbox";
/** Statuses of responses that a vendor may have to explain. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 421, 429]);
/** Maximum number of bytes of an error that are read. */
const MAX_ERROR_BYTES = 65_536;

/** The parts that differ between the vendors. */
export interface BearerVendor {
  /** Adds the headers that the vendor requires, except for the token. */
  addHeaders(headers: Headers, body: string): void;
  /** Returns the meaning of a refusal for the operator. Without one, it is handled like that of an API key. */
  explain(status: number, body: string): Refusal | undefined;
}

export interface BearerFetchOptions {
  /** Name of the provider. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly vendor: BearerVendor;
  /** Called before each request. Returns undefined without a sign-in. */
  readonly getCredentials: () => Promise<CredentialsOf<"claude" | "copilot"> | undefined>;
  readonly now?: () => number;
  /** Default: that of the providers. */
  readonly fetch?: FetchLike;
}

/**
 * Creates a `fetch` that sends the token of a subscription as a bearer token, with our own `user-agent`. Configured
 * headers cannot replace either.
 *
 * @returns a function that throws FailureError (`auth`, `billing`) if an operator has to act. Only fallbacks are then
 *   tried, and the next request tries the subscription again.
 */
export function createBearerFetch(options: BearerFetchOptions): FetchLike {
  const { provider, baseUrl, vendor, getCredentials, now = Date.now, fetch = defaultFetch } = options;
  const { origin } = new URL(baseUrl);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin)
      throw refuse(provider, { code: "auth", reason: `a request was addressed to ${url.host}` });
    const credentials = await getCredentials();
    if (credentials === undefined) throw refuse(provider, { code: "auth", reason: "nobody has signed in" });
    const { accessToken, expiresAt } = credentials;
    if (expiresAt !== undefined && expiresAt <= now())
      throw refuse(provider, { code: "auth", reason: "the sign-in has expired" });
    const headers = new Headers(init?.headers);
    headers.delete("x-api-key");
    vendor.addHeaders(headers, typeof init?.body === "string" ? init.body : "");
    headers.set("authorization", `Bearer ${accessToken}`);
    headers.set("user-agent", USER_AGENT);
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    if (!REFUSED.has(response.status)) return response;
    const body = await readError(response, init?.signal ?? undefined);
    const refusal = vendor.explain(response.status, body);
    if (refusal !== undefined) throw refuse(provider, refusal);
    return new Response(body, { status: response.status, headers: withoutEncoding(response.headers) });
  };
}

async function readError(response: Response, signal = new AbortController().signal): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const bytes of responseBytes(response, signal)) {
    text += decoder.decode(bytes, { stream: true });
    length += bytes.length;
    if (length > MAX_ERROR_BYTES) break;
  }
  return text + decoder.decode();
}

/** The body was decompressed already. */
function withoutEncoding(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) copy.delete(name);
  return copy;
}
