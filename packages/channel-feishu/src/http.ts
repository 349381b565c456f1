import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import type { HttpInstance, HttpRequestOptions } from "@larksuiteoapi/node-sdk";
import {
  type Deadline,
  deadline,
  isPayload,
  neverSent,
  objectAt,
  type Payload,
  parsePayload,
  retryAfterMs,
  textAt,
} from "@signalbox/channel";
import { limits } from "./limits.ts";

/** An answer that is no success, or none at all. */
export class FeishuHttpError extends Error {
  override readonly name = "FeishuHttpError";
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  /** Feishu's business code. */
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** Certainly never reached Feishu. */
  readonly unsent: boolean;

  constructor(
    message: string,
    facts: { status?: number; code?: number; retryAfterMs?: number; unsent?: boolean; cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs;
    this.unsent = facts.unsent ?? false;
  }
}

/** The signal of the call that is under way: the SDK's requests, whose form all have, have no place for one. */
export const callSignal: AsyncLocalStorage<AbortSignal> = new AsyncLocalStorage();

/** Carries requests over the host's `fetch`, with the call's signal, a time limit and typed errors. */
export function createHttp(fetch: typeof globalThis.fetch, now: () => number): HttpInstance {
  async function request<T, R = T, D = unknown>(options: HttpRequestOptions<D>): Promise<R> {
    const usual = isUpload(headersOf(options)) ? limits.uploadTimeoutMs : limits.requestTimeoutMs;
    const limit = deadline(options.timeout ?? usual, callSignal.getStore());
    try {
      return await ask<R, D>(options, limit);
    } finally {
      if (options.responseType !== "stream") limit.end();
    }
  }

  async function ask<R, D>(options: HttpRequestOptions<D>, limit: Deadline): Promise<R> {
    const response = await send(fetch, options, limit.signal);
    const headers = Object.fromEntries(response.headers);
    if (response.ok && options.responseType === "stream") {
      const data = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
      data.once("close", limit.end);
      // The SDK's own signature lets the caller say what comes back.
      return (options.$return_headers === true ? { data, headers } : data) as R;
    }
    const text = await readText(response);
    const body = parsePayload(text);
    const refused = body !== undefined && typeof body["code"] === "number" && body["code"] !== 0;
    if (!response.ok || body === undefined || refused) throw failure(response, body, now());
    return (options.$return_headers === true ? { data: body, headers } : body) as R;
  }

  const without =
    (method: string) =>
    <T, R = T, D = unknown>(url: string, options?: HttpRequestOptions<D>) =>
      request<T, R, D>({ ...options, url, method });
  const withBody =
    (method: string) =>
    <T, R = T, D = unknown>(url: string, data?: D, options?: HttpRequestOptions<D>) =>
      request<T, R, D>({ ...options, url, method, ...(data === undefined ? {} : { data }) });
  return {
    request,
    get: without("GET"),
    delete: without("DELETE"),
    head: without("HEAD"),
    options: without("OPTIONS"),
    post: withBody("POST"),
    put: withBody("PUT"),
    patch: withBody("PATCH"),
  };
}

async function send<D>(
  fetch: typeof globalThis.fetch,
  options: HttpRequestOptions<D>,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(options.url ?? "");
  for (const [name, value] of Object.entries(options.params ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) url.searchParams.append(name, String(item));
    }
  }
  const method = (options.method ?? "GET").toUpperCase();
  const hasBody = method !== "GET" && method !== "HEAD" && options.data !== undefined;
  const headers = headersOf(options);
  const isForm = isUpload(headers);
  // The boundary belongs to the type: `fetch` writes both.
  if (isForm) delete headers["content-type"];
  else if (hasBody) headers["content-type"] = "application/json; charset=utf-8";
  const body = isForm ? formOf(options.data) : JSON.stringify(options.data);
  try {
    return await fetch(url, {
      method,
      headers,
      signal,
      // Feishu leads nowhere else, and the words of people are nobody else's.
      redirect: "manual",
      ...(hasBody ? { body } : {}),
    });
  } catch (cause) {
    throw new FeishuHttpError(`no answer from ${url.host}`, { unsent: neverSent(cause), cause });
  }
}

/** The fields of an upload; its bytes under a name that says nothing, since the real one is a field of its own. */
function formOf(data: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(isPayload(data) ? data : {})) {
    if (value instanceof Uint8Array) form.append(name, new Blob([new Uint8Array(value)]), "upload");
    else if (value !== undefined) form.append(name, String(value));
  }
  return form;
}

function headersOf<D>(options: HttpRequestOptions<D>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {}))
    headers[name.toLowerCase()] = String(value);
  return headers;
}

function isUpload(headers: Readonly<Record<string, string>>): boolean {
  return headers["content-type"] === "multipart/form-data";
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    throw new FeishuHttpError("the answer broke off", { status: response.status, cause });
  }
}

function failure(response: Response, body: Payload | undefined, now: number): FeishuHttpError {
  const code = body?.["code"];
  const message =
    body === undefined ? "" : (textAt(body, "msg") ?? textAt(objectAt(body, "error"), "message") ?? "");
  const { status, headers } = response;
  const wait = retryAfterMs(headers.get("x-ogw-ratelimit-reset") ?? headers.get("retry-after"), now);
  return new FeishuHttpError(`HTTP ${status} ${message}`.trim(), {
    status,
    ...(typeof code === "number" ? { code } : {}),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}
