import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Deadline,
  deadline,
  describeFailedRequest,
  failedToConnect,
  limitResponse,
  objectAt,
  type Payload,
  parsePayload,
  parseRetryAfter,
  textAt,
} from "@signalbox/channel";
import { limits } from "./limits.ts";

/** An error response, or a request without a response. */
export class FeishuHttpError extends Error {
  override readonly name = "FeishuHttpError";
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** Feishu's business code. */
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** True if the request certainly did not reach Feishu. */
  readonly unsent: boolean;

  constructor(
    message: string,
    facts: Partial<Pick<FeishuHttpError, "status" | "code" | "retryAfterMs" | "unsent" | "cause">> = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs;
    this.unsent = facts.unsent ?? false;
  }
}

/** The signal of the current call. The SDK's request options have no field for it. */
export const callSignal: AsyncLocalStorage<AbortSignal> = new AsyncLocalStorage();

/** A request, with the SDK's field names. */
export interface FeishuRequest {
  readonly url?: string;
  /** Default `GET`. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Query parameters. Undefined values are omitted. */
  readonly params?: object;
  /** The body. A form is sent as is, anything else as JSON. */
  readonly data?: unknown;
  /** Time limit in milliseconds. */
  readonly timeout?: number;
}

export interface Download {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Headers;
}

export interface FeishuHttp {
  /** Returns the response body of a successful call. */
  request<Answer>(request: FeishuRequest): Promise<Answer>;
  /** Returns the response as a stream. The time limit applies to the headers, and then to each chunk. */
  download(request: FeishuRequest): Promise<Download>;
}

/** Sends requests with the host's `fetch`, the signal of the call, a time limit and typed errors. */
export function createHttp(fetch: typeof globalThis.fetch, now: () => number): FeishuHttp {
  return {
    async request<Answer>(request: FeishuRequest): Promise<Answer> {
      const usual = request.data instanceof FormData ? limits.uploadTimeoutMs : limits.requestTimeoutMs;
      const limit = deadline(request.timeout ?? usual, callSignal.getStore());
      try {
        const response = await send(fetch, request, limit.signal);
        const body = parsePayload(await readText(response));
        const refused = body !== undefined && typeof body["code"] === "number" && body["code"] !== 0;
        if (!response.ok || body === undefined || refused) throw failure(response, body, now());
        // The caller knows the type of Feishu's response.
        return body as Answer;
      } finally {
        limit.end();
      }
    },

    async download(request) {
      const limit = deadline(limits.requestTimeoutMs, callSignal.getStore());
      try {
        const response = await send(fetch, request, limit.signal);
        if (!response.ok) throw failure(response, parsePayload(await readText(response)), now());
        return { body: piecewise(response.body ?? new Blob().stream(), limit), headers: response.headers };
      } catch (error) {
        limit.end();
        throw error;
      }
    },
  };
}

/**
 * Returns the same bytes. The time limit applies to the arrival of each chunk, not to the time that the reader takes to
 * process it.
 */
function piecewise(body: ReadableStream<Uint8Array>, limit: Deadline): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  limit.pause();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        limit.restart();
        try {
          const { value, done } = await reader.read();
          if (!done) {
            limit.pause();
            return controller.enqueue(value);
          }
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        limit.end();
      },
      async cancel(reason) {
        limit.end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(
  fetch: typeof globalThis.fetch,
  { url: address = "", method = "GET", headers, params = {}, data }: FeishuRequest,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(address);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) url.searchParams.append(name, String(value));
  }
  const head = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) head.set(name, String(value));
  // `fetch` sets the content type of a form, because it contains the boundary.
  const isForm = data instanceof FormData;
  if (data !== undefined && !isForm) head.set("content-type", "application/json; charset=utf-8");
  const body = isForm ? data : JSON.stringify(data);
  try {
    // Feishu does not redirect. Message texts must not be sent to another server.
    return await fetch(url, {
      method: method.toUpperCase(),
      headers: head,
      signal,
      redirect: "manual",
      body,
    });
  } catch (cause) {
    const reason = describeFailedRequest(cause);
    throw new FeishuHttpError(`no response from ${url.host}${reason === undefined ? "" : `: ${reason}`}`, {
      unsent: failedToConnect(cause),
      cause,
    });
  }
}

async function readText(response: Response): Promise<string> {
  try {
    return await limitResponse(response).text();
  } catch (cause) {
    throw new FeishuHttpError("the response ended early", { status: response.status, cause });
  }
}

function failure(response: Response, body: Payload | undefined, now: number): FeishuHttpError {
  const code = body?.["code"];
  const message =
    body === undefined ? "" : (textAt(body, "msg") ?? textAt(objectAt(body, "error"), "message") ?? "");
  const { status, headers } = response;
  const wait = parseRetryAfter(headers.get("x-ogw-ratelimit-reset") ?? headers.get("retry-after"), now);
  // Feishu reports most errors with the status 200 and a code.
  const name = status === 200 && typeof code === "number" ? `error ${code}:` : `HTTP ${status}`;
  return new FeishuHttpError(`${name} ${message}`.trim(), {
    status,
    code: typeof code === "number" ? code : undefined,
    retryAfterMs: wait,
  });
}
