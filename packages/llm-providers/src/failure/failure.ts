import { type ModelErrorCode, type ModelErrorData, reasonOf } from "@signalbox/agent-core";
import { stated } from "../shared/json.ts";
import words from "./words.json" with { type: "json" };

/** What is known of a failure before it is classified. Structured fields decide; the message only where none does. */
export interface FailureFacts {
  readonly message: string;
  readonly status?: number | undefined;
  /** The vendor's error type or code words, most specific first, for instance `overloaded_error`. */
  readonly words?: readonly (string | undefined)[];
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/** What is known of an error that says nothing itself. */
export const NOTHING_SAID: FailureFacts = { message: "The server reported an error without a message." };

/** `ModelErrorData` without what only the running turn knows. */
export type Failure = Omit<ModelErrorData, "emitted" | "attempts">;

/** An exception an adapter may throw to end its turn with exactly this failure. */
export class FailureError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.name = "FailureError";
    this.failure = failure;
  }
}

/** What an attempt that follows has to change, and whether the same request may succeed later. */
const KINDS: Readonly<Record<ModelErrorCode, Pick<Failure, "scope" | "retryable">>> = {
  auth: { scope: "key", retryable: false },
  billing: { scope: "key", retryable: false },
  rate_limit: { scope: "key", retryable: true },
  overloaded: { scope: "model", retryable: true },
  overflow: { scope: "model", retryable: false },
  invalid: { scope: "model", retryable: false },
  filter: { scope: "model", retryable: false },
  network: { scope: "provider", retryable: true },
  timeout: { scope: "provider", retryable: true },
  aborted: { scope: "provider", retryable: false },
  protocol: { scope: "provider", retryable: true },
  budget: { scope: "provider", retryable: false },
};

/**
 * Vendors' own words for what went wrong. `string_above_max_length` is no overflow: one field is longer than the
 * endpoint takes, and summarising the conversation would not mend it.
 */
const WORDS = new Map(
  Object.entries(words).flatMap(([word, code]) => (isCode(code) ? [[word, code] as const] : [])),
);

function isCode(word: string): word is ModelErrorCode {
  return Object.hasOwn(KINDS, word);
}

/** Too much for the window: vendors report it as a plain invalid request, told apart by its wording only. */
const OVERFLOW =
  /prompt is too long|exceeds? (?:the |this model'?s )?(?:maximum |model'?s )?context|context (?:length|window|size)|maximum context|too many (?:input )?tokens|input token count|input is too long|reduce the length of the messages|exceed_context_size|too large for model|total length of all messages is too long|input tokens exceeds maximum/i;
const BILLING =
  /credit balance|insufficient (?:credits|balance|funds|quota)|billing|payment required|exceeded your current quota/i;
const AUTH = /invalid api key|incorrect api key|api key not valid|unauthori[sz]ed/i;

function codeOfStatus(status: number): ModelErrorCode | undefined {
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "billing";
  if (status === 408 || status === 504) return "timeout";
  if (status === 413) return "overflow";
  if (status === 429) return "rate_limit";
  if (status >= 500) return "overloaded";
  return status >= 400 ? "invalid" : undefined;
}

const PASSING: ReadonlySet<ModelErrorCode> = new Set(["rate_limit", "overloaded", "timeout"]);

/**
 * A word may say more precisely what a status means, but not the opposite: a refused key does not become a busy
 * server because a proxy writes `api_error` beside the 401, nor a failing server a refused key.
 */
function contradicts(word: ModelErrorCode, status: number | undefined): boolean {
  if (status === undefined) return false;
  if (status === 401 || status === 402 || status === 403) return PASSING.has(word);
  return (status === 429 || status >= 500) && (word === "auth" || word === "invalid");
}

function codeOf({ words = [], status, message, retryAfterMs }: FailureFacts): ModelErrorCode {
  const said = words
    .map((word = "") => WORDS.get(word))
    .find((code) => code !== undefined && !contradicts(code, status));
  const code = said ?? (status === undefined ? undefined : codeOfStatus(status));
  // A generic word says less than the sentence beside it.
  if (code === undefined || code === "invalid") {
    if (OVERFLOW.test(message)) return "overflow";
    if (BILLING.test(message)) return "billing";
    if (AUTH.test(message)) return "auth";
  }
  // A used-up quota that the vendor says will be back is a rate limit, whatever its sentence says of billing.
  const comesBack = retryAfterMs !== undefined || /per (?:minute|day|second)/i.test(message);
  if (code === "rate_limit" && BILLING.test(message) && !comesBack) return "billing";
  return code ?? "protocol";
}

/** The title or the text of a page of HTML, which proxies answer with; undefined for what is no page. */
export function htmlSummary(text: string): string | undefined {
  if (!/^\s*<(?:!doctype html|html)\b/i.test(text)) return undefined;
  const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1] ?? "";
  return inOneLine(title) || inOneLine(text.replace(/<[^>]*>/g, " ")) || "an empty page";
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export function failure(
  code: ModelErrorCode,
  message: string,
  facts: Omit<FailureFacts, "message"> = {},
): Failure {
  return {
    code,
    message: htmlSummary(message) ?? message,
    ...KINDS[code],
    ...stated({ status: facts.status, retryAfterMs: facts.retryAfterMs, requestId: facts.requestId }),
  };
}

/** Classifies what a vendor said, from its structured fields first. */
export function classify(facts: FailureFacts): Failure {
  return failure(codeOf(facts), facts.message, facts);
}

/** How much of an unknown error body is quoted, in UTF-16 units. */
const MAX_QUOTE_LENGTH = 500;

/**
 * Returns the facts of a refusal that do not depend on the vendor's body format.
 * @param now milliseconds since the epoch
 */
export function describeRefusal(
  { status, headers }: Pick<Response, "status" | "headers">,
  body: string,
  now: number,
): FailureFacts {
  const text = (htmlSummary(body) ?? body).slice(0, MAX_QUOTE_LENGTH).trim() || "(empty body)";
  const location = headers.get("location");
  const redirect = location === null ? "" : ` (the server redirects to ${location})`;
  const message = `${text.startsWith(String(status)) ? text : `${status} ${text}`}${redirect}`;
  return { message, status, ...stated({ retryAfterMs: getRetryAfterMs(headers, now) }) };
}

/** Reads `retry-after-ms` or `retry-after` (seconds or an HTTP date) and returns milliseconds. */
export function getRetryAfterMs(headers: Headers, now: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms")?.trim() || Number.NaN);
  if (ms >= 0) return Math.ceil(ms);
  const value = headers.get("retry-after")?.trim() || "";
  const seconds = Number(value || Number.NaN);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
/** Of the system's own codes only those of connections: `ENOENT` or `EACCES` are no fault of the network. */
const NETWORK_CODE =
  /^(?:E(?:CONN[A-Z]+|NET[A-Z]+|HOST[A-Z]+|PIPE|PROTO|NOTFOUND|NOTCONN|ADDRNOTAVAIL|AI_[A-Z]+)|UND_ERR_[A-Z_]+|HPE_[A-Z_]+|ERR_(?:TLS|SSL|STREAM|HTTP|SOCKET)[A-Z_\d]*|[A-Z_]*CERT[A-Z_]*)$/;
/**
 * A request that could not even be made, now or later: a wrong address, a value that no header has, a package that is
 * not there. Sessions and streams of HTTP/2 become invalid when their connection ends, and what OpenSSL finds invalid
 * (`ERR_SSL_…`) came from the server.
 */
const OWN_FAULT =
  /^(?:(?:UND_)?ERR_(?!SSL)[A-Z\d_]*INVALID_(?!SESSION|STREAM)[A-Z_]+|ERR_(?:MODULE|PACKAGE|UNSUPPORTED|SOCKET_BAD)_[A-Z_]+|ENOENT|EACCES)$/;

/**
 * Classifies an exception that no vendor answer explains, by the codes along its `cause`: what broke the connection is
 * `network`, what could not be asked at all `invalid`, and garbage on the wire `protocol`.
 */
export function classifyException(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  for (const at of causesOf(error)) {
    const code: unknown = "code" in at ? at.code : undefined;
    if (typeof code === "string") {
      const said = `${at.message} (${code})`;
      if (TIMEOUT_CODES.has(code)) return failure("timeout", `The connection timed out: ${said}`);
      // First, since many of these codes begin like those of connections, as `ERR_HTTP_INVALID_HEADER_VALUE` does.
      if (OWN_FAULT.test(code)) return failure("invalid", `The request could not be made: ${said}`);
      if (NETWORK_CODE.test(code)) return failure("network", `The connection failed: ${said}`);
    }
    if (
      /terminated|socket hang up|other side closed|fetch failed|Connection error/i.test(at.message) &&
      at.cause === undefined
    )
      return failure("network", at.message);
  }
  return failure("protocol", `The answer could not be read: ${reasonOf(error)}`);
}

function* causesOf(error: unknown): Generator<Error> {
  let at = error;
  for (let depth = 0; depth < 6 && at instanceof Error; depth++, at = at.cause) yield at;
}
