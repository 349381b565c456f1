import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Deadline,
  deadline,
  failedToConnect,
  objectAt,
  type Payload,
  parsePayload,
  parseRetryAfter,
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
    facts: Partial<Pick<FeishuHttpError, "status" | "code" | "retryAfterMs" | "unsent" | "cause">> = {},
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

/** One request, in those words of the SDK that its long connection and our own client use. */
export interface FeishuRequest {
  readonly url?: string;
  /** Default `GET`. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Of the address; what is undefined is left out. */
  readonly params?: object;
  /** The body: a form as it is, anything else as JSON. */
  readonly data?: unknown;
  /** In milliseconds. */
  readonly timeout?: number;
}

export interface Download {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Headers;
}

export interface FeishuHttp {
  /** What Feishu answers, if it is a success. */
  request<Answer>(request: FeishuRequest): Promise<Answer>;
  /** The answer as it comes: the time limit is for its head, and then for each piece. */
  download(request: FeishuRequest): Promise<Download>;
}

/** Carries requests over the host's `fetch`, with the call's signal, a time limit and typed errors. */
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
        // Whoever asks knows what Feishu answers to that.
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

/** The same bytes; the limit is for each piece that is waited for, and not for how long the reader takes with it. */
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
  // The boundary belongs to the type of a form: `fetch` writes both.
  const isForm = data instanceof FormData;
  if (data !== undefined && !isForm) head.set("content-type", "application/json; charset=utf-8");
  const body = isForm ? data : JSON.stringify(data);
  try {
    // Feishu leads nowhere else, and the words of people are nobody else's.
    return await fetch(url, {
      method: method.toUpperCase(),
      headers: head,
      signal,
      redirect: "manual",
      body,
    });
  } catch (cause) {
    throw new FeishuHttpError(`no answer from ${url.host}`, { unsent: failedToConnect(cause), cause });
  }
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
  const wait = parseRetryAfter(headers.get("x-ogw-ratelimit-reset") ?? headers.get("retry-after"), now);
  return new FeishuHttpError(`HTTP ${status} ${message}`.trim(), {
    status,
    code: typeof code === "number" ? code : undefined,
    retryAfterMs: wait,
  });
}
