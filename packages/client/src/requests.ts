import { SESSION_KEY_HEADER } from "@signalbox/protocol";
import { ClientError, errorOfAnswer, isClientError } from "./errors.ts";
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

/**
 * Requests to one gateway, with this client's credentials. Answers are validated; each rejects with a {@link
 * ClientError}.
 */
export interface Requests {
  readonly get: <T>(path: string, schema: Schema<T>) => Promise<T>;
  readonly post: <T>(path: string, body: object, schema: Schema<T>) => Promise<T>;
  /** A POST whose answer says nothing. */
  readonly tell: (path: string, body: object) => Promise<void>;
  readonly put: <T>(path: string, body: Blob, schema: Schema<T>, signal?: AbortSignal) => Promise<T>;
  /** The stream of a conversation's events, behind the last one that was read. */
  readonly events: (
    conversation: string,
    agent: string | undefined,
    after: string | undefined,
    signal: AbortSignal,
  ) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export function createRequests(options: HttpOptions): Requests {
  const post = (path: string, body: object): Promise<Answer> =>
    exchange(options, path, { method: "POST", type: "application/json", body: JSON.stringify(body) });
  return {
    get: async (path, schema) => understood(path, schema, await exchange(options, path, { method: "GET" })),
    post: async (path, body, schema) => understood(path, schema, await post(path, body)),
    async tell(path, body) {
      await post(path, body);
    },
    async put(path, body, schema, signal) {
      const type = "application/octet-stream";
      return understood(
        path,
        schema,
        await exchange(options, path, { method: "PUT", type, body, signal, taken: [CONFLICT] }),
      );
    },
    events: (conversation, agent, after, signal) => openEvents(options, conversation, agent, after, signal),
  };
}

function understood<T>(path: string, schema: Schema<T>, { status, body }: Answer): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ClientError(
    {
      code: "protocol",
      message: `The answer to ${path} is none that this client understands.`,
      remedy: "Check the address, and that gateway and client are of about the same age.",
    },
    status,
  );
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Exchange {
  readonly method: "GET" | "POST" | "PUT";
  /** Of the body. */
  readonly type?: string;
  readonly body?: string | Blob;
  readonly signal?: AbortSignal | undefined;
  /** Statuses besides those of success whose body is the answer. */
  readonly taken?: readonly number[];
}

/** RFC 9110: what is there is not what the request builds on. */
const CONFLICT = 409;

async function exchange(
  options: HttpOptions,
  path: string,
  { method, type, body, signal, taken = [] }: Exchange,
): Promise<Answer> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (type !== undefined) headers["content-type"] = type;
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await fetchFrom(options, path, { method, headers, signal: ends, body });
    const answer = parse(await response.text());
    if (!response.ok && !taken.includes(response.status)) throw errorOfAnswer(response.status, answer);
    return { status: response.status, body: answer };
  } catch (error) {
    throw isClientError(error) ? error : unreachable(options, error);
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
  if (!response.ok) throw errorOfAnswer(response.status, parse(await response.text()));
  if (response.body === null)
    throw new ClientError({ code: "protocol", message: "The answer is no stream." });
  return response.body;
}

interface Fetching {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body: string | Blob | undefined;
}

/** One request, as whoever this client is. */
function fetchFrom(
  options: HttpOptions,
  path: string,
  { method, headers, signal, body }: Fetching,
): Promise<Response> {
  return options.fetch(new URL(path, options.base), {
    method,
    headers: { ...headers, ...credentials(options) },
    credentials: "same-origin",
    redirect: "error",
    signal,
    ...(body !== undefined && { body }),
  });
}

/** A program's token, or what a browser sends beside its cookie. */
function credentials({ token, sessionKey }: HttpOptions): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  const key = sessionKey.value;
  return key === undefined ? {} : { [SESSION_KEY_HEADER]: key };
}

function unreachable(options: HttpOptions, cause: unknown): ClientError {
  if (cause instanceof Error && cause.name === "TimeoutError") {
    const seconds = options.timeoutMs / 1000;
    const message = `The gateway at ${options.base.origin} did not answer within ${seconds} s.`;
    return new ClientError({ code: "timeout", message }, undefined, cause);
  }
  const message = `The gateway at ${options.base.origin} cannot be reached.`;
  return new ClientError(
    { code: "network", message, remedy: "Check that it runs and that the address is right." },
    undefined,
    cause,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
