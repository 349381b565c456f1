import { SESSION_KEY_HEADER } from "@signalbox/protocol";
import { ClientError, createResponseError, isClientError, UNREACHABLE_REMEDY } from "./errors.ts";
import type { SessionKey } from "./session-key.ts";

export interface HttpOptions {
  base: URL;
  token: string | undefined;
  sessionKey: SessionKey;
  fetch: typeof fetch;
  timeoutMs: number;
}

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

/** Authenticated requests to one gateway. Responses are validated. All methods reject with a {@link ClientError}. */
export interface Requests {
  readonly get: <T>(path: string, schema: Schema<T>) => Promise<T>;
  readonly post: <T>(path: string, body: object, schema: Schema<T>) => Promise<T>;
  /** Sends a POST request and ignores the body of the response. */
  readonly postVoid: (path: string, body: object) => Promise<void>;
  readonly put: <T>(path: string, body: Blob, schema: Schema<T>, signal?: AbortSignal) => Promise<T>;
  /** Opens the event stream of a conversation after a cursor. */
  readonly events: (
    conversation: string,
    agent: string | undefined,
    after: string | undefined,
    signal: AbortSignal,
  ) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export function createRequests(options: HttpOptions): Requests {
  const post = (path: string, body: object): Promise<ParsedResponse> =>
    send(options, path, { method: "POST", type: "application/json", body: JSON.stringify(body) });
  return {
    get: async (path, schema) => validate(path, schema, await send(options, path, { method: "GET" })),
    post: async (path, body, schema) => validate(path, schema, await post(path, body)),
    async postVoid(path, body) {
      await post(path, body);
    },
    async put(path, body, schema, signal) {
      const type = "application/octet-stream";
      return validate(
        path,
        schema,
        await send(options, path, { method: "PUT", type, body, signal, accepted: [CONFLICT] }),
      );
    },
    events: (conversation, agent, after, signal) => openEvents(options, conversation, agent, after, signal),
  };
}

function validate<T>(path: string, schema: Schema<T>, { status, body }: ParsedResponse): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ClientError(
    {
      code: "protocol",
      message: `Unexpected response from ${path}.`,
      remedy: "Check the URL, and that the gateway and the client have the same version.",
    },
    status,
  );
}

interface ParsedResponse {
  readonly status: number;
  readonly body: unknown;
}

interface RequestInput {
  readonly method: "GET" | "POST" | "PUT";
  /** Content type of the body. */
  readonly type?: string;
  readonly body?: string | Blob;
  readonly signal?: AbortSignal | undefined;
  /** Error statuses that are handled like a success. */
  readonly accepted?: readonly number[];
}

/** The gateway has received a different number of bytes than the client assumed. */
const CONFLICT = 409;

async function send(
  options: HttpOptions,
  path: string,
  { method, type, body, signal, accepted = [] }: RequestInput,
): Promise<ParsedResponse> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (type !== undefined) headers["content-type"] = type;
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await fetchFrom(options, path, { method, headers, signal: ends, body });
    const parsed = parseJson(await response.text());
    if (!response.ok && !accepted.includes(response.status))
      throw createResponseError(response.status, parsed);
    return { status: response.status, body: parsed };
  } catch (error) {
    throw isClientError(error) ? error : createNetworkError(options, error);
  }
}

async function openEvents(
  options: HttpOptions,
  conversation: string,
  agent: string | undefined,
  after: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const query = agent === undefined ? "" : `?${new URLSearchParams({ agent })}`;
  const path = `/api/conversations/${encodeURIComponent(conversation)}/events${query}`;
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (after !== undefined) headers["last-event-id"] = after;
  const response = await fetchFrom(options, path, { method: "GET", headers, signal, body: undefined });
  if (!response.ok) throw createResponseError(response.status, parseJson(await response.text()));
  if (response.body === null)
    throw new ClientError({ code: "protocol", message: "The event stream has no body." });
  return response.body;
}

interface FetchInput {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body: string | Blob | undefined;
}

/** Sends one request with the client's credentials. */
function fetchFrom(
  options: HttpOptions,
  path: string,
  { method, headers, signal, body }: FetchInput,
): Promise<Response> {
  return options.fetch(new URL(path, options.base), {
    method,
    headers: { ...headers, ...getCredentials(options) },
    credentials: "same-origin",
    redirect: "error",
    signal,
    body: body ?? null,
  });
}

/** Returns the header with the token, or with the session key that accompanies a browser's cookie. */
function getCredentials({ token, sessionKey }: HttpOptions): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  const key = sessionKey.value;
  return key === undefined ? {} : { [SESSION_KEY_HEADER]: key };
}

function createNetworkError(options: HttpOptions, cause: unknown): ClientError {
  if (cause instanceof Error && cause.name === "TimeoutError") {
    const seconds = options.timeoutMs / 1000;
    const message = `The gateway at ${options.base.origin} did not respond within ${seconds} s.`;
    return new ClientError({ code: "timeout", message }, undefined, cause);
  }
  const message = `The gateway at ${options.base.origin} is unreachable.`;
  return new ClientError({ code: "network", message, remedy: UNREACHABLE_REMEDY }, undefined, cause);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
