import type { ChannelContext } from "../contract/definition.ts";
import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  isChannelError,
} from "../contract/errors.ts";
import { type Deadline, deadline } from "../host/deadline.ts";
import { readLimited } from "../host/read-limited.ts";
import { type Payload, parsePayload } from "../inbound/payload.ts";
import { describeFailedRequest } from "./describe-failed-request.ts";
import { failedToConnect } from "./failed-to-connect.ts";
import { MAX_RESPONSE_BYTES } from "./limit-response.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** A request to a platform. */
export interface PlatformRequest {
  /** The operation, for error messages, as in `sending a message`. Must not contain secrets or people's texts. */
  readonly what: string;
  readonly url: string | URL;
  /** Default: `POST` with a body, `GET` without one. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A `FormData`, a `URLSearchParams`, bytes, or a value to send as JSON. */
  readonly body?: object;
  /**
   * True if the request has visible effects. If the platform may have carried it out, its error is `unknown_outcome`,
   * otherwise `transient`. Default: true unless the method is `GET`.
   */
  readonly write?: boolean;
  readonly signal: AbortSignal;
  /** Time limit for the complete response, in milliseconds. Default: `timeoutMs` of the options. */
  readonly timeoutMs?: number;
}

/** An error response of a platform. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body, if it is a JSON object. */
  readonly payload: Payload | undefined;
}

/** The meaning of an error response. Missing fields are derived from the HTTP status. */
export interface ErrorMeaning {
  readonly code?: ChannelErrorCode | undefined;
  /** The platform's explanation, for people. */
  readonly reason?: string | undefined;
  readonly scope?: ChannelErrorScope | undefined;
  /** Default: the HTTP status. */
  readonly platformCode?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Names of the settings that the platform may refuse. Default: the options' `credentials` if the code is `auth`. */
  readonly settings?: readonly string[] | undefined;
}

export interface RequestsOptions extends Pick<ChannelContext, "fetch" | "clock"> {
  /** The platform's display name, for instance `WhatsApp`. */
  readonly platform: string;
  /** Names of the settings with which the account authenticates, for errors with the code `auth`. Default: none. */
  readonly credentials?: readonly string[];
  /**
   * Returns headers for a request, for instance `authorization`. May request an access token first. If it throws, the
   * request fails with that `ChannelError`, or with `transient`.
   */
  readonly headers?: (
    signal: AbortSignal,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Interprets an error response, usually based on the platform's own error codes. Must not throw. */
  readonly readError?: (response: ErrorResponse) => ErrorMeaning;
  /**
   * Finds an error in a response with status 2xx, for platforms that report errors in the body. Returns `undefined` if
   * the request succeeded. Must not throw.
   */
  readonly findError?: (payload: Payload) => ErrorMeaning | undefined;
  /** Time limit in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Default `retryAfterMs` of a rate limit if the platform does not send one, in milliseconds. Default: 1,000. */
  readonly rateWaitMs?: number;
}

/** Sends requests to a platform. All methods throw only `ChannelError`. */
export interface Requests {
  /** Returns the JSON object in the response. An empty response yields an empty object. */
  json(request: PlatformRequest): Promise<Payload>;
  /**
   * Returns the unread response, for downloads. The time limit covers only the headers, but `signal` also aborts the
   * body.
   */
  open(request: PlatformRequest): Promise<Response>;
}

const TIMEOUT_MS = 15_000;
const RATE_WAIT_MS = 1_000;
/** Maximum length of a platform's explanation in an error, in characters. */
const MAX_REASON_CHARS = 300;

const CODES: Readonly<Record<number, ChannelErrorCode>> = {
  401: "auth",
  403: "permission",
  404: "not_found",
  410: "not_found",
  413: "too_large",
  429: "rate_limited",
};

/**
 * Creates a function that sends requests with the host's `fetch`, with a time limit, the caller's signal and typed
 * errors. A request that certainly did not reach the platform fails with `transient`, or with `invalid` if its URL or
 * its body is invalid. A write whose response is lost,
 * cannot be read or is a 5xx fails with `unknown_outcome`. Redirects are errors, because their target would receive the
 * credentials. Errors contain the host and the code of a failed connection, but neither the URL nor
 * headers, bodies or causes.
 *
 * @example
 * ```ts
 * const requests = createRequests({
 *   ...context,
 *   platform: "Mine",
 *   headers: () => ({ authorization: `Bearer ${context.config.token}` }),
 *   readError: ({ payload = {} }) => ({ reason: textAt(payload, "error") }),
 * });
 * const answer = await requests.json({ what: "sending a message", url: `${base}/messages`, body: { text }, signal });
 * ```
 */
export function createRequests(options: RequestsOptions): Requests {
  return new FetchRequests(options);
}

class FetchRequests implements Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  async json(request: PlatformRequest): Promise<Payload> {
    const limit = this.#limit(request);
    try {
      const response = await this.#send(request, limit.signal);
      const text = await this.#readText(request, response);
      if (text.trim() === "") return {};
      const payload = parsePayload(text);
      if (payload === undefined) throw this.#lost(request, "the response cannot be read");
      const error = this.#options.findError?.(payload);
      if (error !== undefined) throw this.#refusal(request, response, error);
      return payload;
    } finally {
      limit.end();
    }
  }

  async open(request: PlatformRequest): Promise<Response> {
    const limit = this.#limit(request);
    try {
      const response = await this.#send(request, limit.signal);
      limit.pause();
      return response;
    } catch (error) {
      limit.end();
      throw error;
    }
  }

  #limit({ timeoutMs, signal }: PlatformRequest): Deadline {
    return deadline(timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS, signal);
  }

  /** Returns a response with status 2xx. */
  async #send(request: PlatformRequest, signal: AbortSignal): Promise<Response> {
    const init = await this.#prepare(request, signal);
    let response: Response;
    try {
      response = await this.#options.fetch(request.url, init);
    } catch (error) {
      if (failedToConnect(error)) {
        const cause = describeFailedRequest(error);
        const host = `no connection to ${new URL(request.url).host}`;
        const reason = cause === undefined ? host : `${host}: ${cause}`;
        throw this.#error(request, { code: "transient", reason });
      }
      throw this.#lost(request, describeNoResponse(error));
    }
    if (response.ok) return response;
    const payload = parsePayload(await this.#readText(request, response).catch(() => ""));
    const { status } = response;
    throw this.#refusal(
      request,
      response,
      this.#options.readError?.({ status, headers: response.headers, payload }),
    );
  }

  /**
   * Creates the options for `fetch`. Its errors say that nothing was sent, and do not quote the errors of `Headers`,
   * which contain the values.
   */
  async #prepare(request: PlatformRequest, signal: AbortSignal): Promise<RequestInit> {
    this.#throwIfEnded(request, signal);
    const { url, body } = request;
    if (!URL.canParse(url)) throw this.#error(request, { code: "invalid", reason: "the URL is invalid" });
    const headers = await this.#createHeaders(request, signal);
    this.#throwIfEnded(request, signal);
    const init = { method: methodOf(request), headers, redirect: "manual", signal } as const;
    if (body === undefined || isRawBody(body)) return { ...init, body: body ?? null };
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    try {
      return { ...init, body: JSON.stringify(body) };
    } catch {
      throw this.#error(request, { code: "invalid", reason: "the body cannot be written as JSON" });
    }
  }

  async #createHeaders(request: PlatformRequest, signal: AbortSignal): Promise<Headers> {
    try {
      const headers = new Headers(await this.#options.headers?.(signal));
      for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
      return headers;
    } catch (error) {
      this.#throwIfEnded(request, signal);
      if (!isChannelError(error))
        throw this.#error(request, { code: "transient", reason: "its headers cannot be created" });
      // The outcome of the request for an access token is unknown. This request was not sent.
      if (error.code === "unknown_outcome")
        throw this.#error(request, { code: "transient", reason: error.message });
      throw error;
    }
  }

  #throwIfEnded(request: PlatformRequest, signal: AbortSignal): void {
    if (!signal.aborted) return;
    const reason = request.signal.aborted ? "aborted before it was sent" : "no time was left to send it";
    throw this.#error(request, { code: "transient", reason });
  }

  async #readText(request: PlatformRequest, { body }: Response): Promise<string> {
    let bytes: Uint8Array | undefined;
    try {
      bytes = await readLimited(body, MAX_RESPONSE_BYTES);
    } catch (error) {
      throw this.#lost(request, describeNoResponse(error));
    }
    if (bytes === undefined) throw this.#lost(request, "the response is too long");
    return new TextDecoder().decode(bytes);
  }

  #refusal(
    request: PlatformRequest,
    { status, headers }: Response,
    meaning: ErrorMeaning = {},
  ): ChannelError {
    const {
      code = codeOf(status, request),
      reason = status >= 300 && status < 400 ? "redirected" : "",
      platformCode = String(status),
      retryAfterMs = parseRetryAfter(headers.get("retry-after"), this.#options.clock.now()),
      scope = code === "auth" ? "account" : undefined,
      settings = code === "auth" ? this.#options.credentials : undefined,
    } = meaning;
    const waitMs =
      code === "rate_limited" ? (retryAfterMs ?? this.#options.rateWaitMs ?? RATE_WAIT_MS) : retryAfterMs;
    const where = `HTTP ${status}${platformCode === String(status) ? "" : `, ${platformCode}`}`;
    const text = reason === "" ? where : `${where}: ${reason.slice(0, MAX_REASON_CHARS)}`;
    return this.#error(request, { code, reason: text, platformCode, retryAfterMs: waitMs, scope, settings });
  }

  /** Creates the error of a request that may have been carried out. */
  #lost(request: PlatformRequest, reason: string): ChannelError {
    return this.#error(request, { code: isWrite(request) ? "unknown_outcome" : "transient", reason });
  }

  #error(
    { what }: PlatformRequest,
    { code, reason, ...facts }: ErrorMeaning & { readonly code: ChannelErrorCode },
  ) {
    return new ChannelError(code, `${this.#options.platform}: ${what}: ${reason}`, facts);
  }
}

function methodOf({ method, body }: PlatformRequest): string {
  return method ?? (body === undefined ? "GET" : "POST");
}

function isWrite(request: PlatformRequest): boolean {
  return request.write ?? methodOf(request) !== "GET";
}

function isRawBody(body: object): body is FormData | URLSearchParams | Uint8Array<ArrayBuffer> {
  return body instanceof FormData || body instanceof URLSearchParams || body instanceof Uint8Array;
}

function codeOf(status: number, request: PlatformRequest): ChannelErrorCode {
  const code = CODES[status];
  if (code !== undefined) return code;
  // 408: the server stopped waiting for the request. After a 5xx, it is unknown whether the platform has carried out
  // the request.
  if (status >= 500 || status === 408) return isWrite(request) ? "unknown_outcome" : "transient";
  return "invalid";
}

/** Describes a failed `fetch` only by its code, because the messages of some errors contain the URL. */
function describeNoResponse(error: unknown): string {
  if (!(error instanceof Error)) return "no response";
  if (error.name === "TimeoutError") return "no response in time";
  if (error.name === "AbortError") return "aborted while it waited for the response";
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? `no response (${code})` : "no response";
}
