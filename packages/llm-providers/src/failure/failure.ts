import { type ModelErrorCode, type ModelErrorData, reasonOf } from "@signalbox/agent-core";
import { withoutUndefined } from "../shared/json.ts";
import words from "./words.json" with { type: "json" };

/** The facts of a failure before it is classified. The message is used only if structured fields are missing. */
export interface FailureFacts {
  readonly message: string;
  readonly status?: number | undefined;
  /** The vendor's error types or codes, most specific first, for instance `overloaded_error`. */
  readonly words?: readonly (string | undefined)[];
  /** The request field that the vendor's error names. */
  readonly param?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/** The facts of an error object without a message. */
export const NO_MESSAGE: FailureFacts = { message: "The server reported an error without a message." };

/** `ModelErrorData` without the fields that only the running turn can fill in. */
export type Failure = Omit<ModelErrorData, "emitted" | "attempts">;

/** Thrown by a provider to end its turn with this exact failure. */
export class FailureError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.name = "FailureError";
    this.failure = failure;
  }
}

/** The scope of the change that the next attempt needs, and whether the same request may succeed later. */
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
 * The vendors' error words. `string_above_max_length` is not an overflow: one field is longer than the endpoint
 * accepts, and summarizing the conversation would not help.
 */
const WORDS = new Map(
  Object.entries(words).flatMap(([word, code]) => (isCode(code) ? [[word, code] as const] : [])),
);

function isCode(word: string): word is ModelErrorCode {
  return Object.hasOwn(KINDS, word);
}

/** Vendors report a prompt that is too long as an invalid request. Only the wording identifies it. */
const OVERFLOW: readonly RegExp[] = [
  /\b(?:prompt|inputs?|sequence|context|conversation|history|request|messages?|text|chat)\b(?: \w+){0,3} too (?:long|large|big)\b/i,
  /too many (?:\w+ )?tokens|too large for .{0,40}\bmodel/i,
  /context[ _](?:length|window|size|limit)|maximum context|exceed_context_size|max_seq_len/i,
  /(?:reduce|shorten) the (?:length|size|number) of (?:the |your )?(?:messages|prompt|input|tokens)|input token count/i,
  // "Your request exceeded model token limit", "prompt token count of 9 exceeds the limit", "Input exceeds the max …".
  /\b(?:prompt|inputs?|context|sequence|conversation|request|messages|(?:input |total )?token(?:s|size)?)\b[^.;\n]{0,60}\b(?:exceed(?:s|ed|ing)?|(?:greater|larger|longer|more) than|over|above|beyond)\b[^.;\n]{0,60}(?:length|tokens?|context|window|limit|\bmax|\bmodel)/i,
  // "exceeded maximum number of input tokens", "9 tokens do not fit in the window", "ContextWindowExceededError".
  /exceed\w* (?:the )?max\w* (?:number of )?(?:input |prompt )?tokens|\bfit (?:in|into)\b[^.;\n]{0,30}\b(?:window|context)|context_?window_?exceeded|context is full|enough context/i,
  // "max tokens of 4096 exceeded", "Input length limit exceeded".
  /\b(?:tokens?|context|prompt|inputs?|sequence)\b[^.;\n]{0,40}\bexceeded\b/i,
  // "`inputs` must have less than 4096 tokens", "at most 8192 tokens are allowed", "tokens must be no more than 9".
  /\b(?:less|fewer|more|shorter) than \d[\d,]* (?:\w+ )?tokens|\bat most \d[\d,]* (?:\w+ )?tokens/i,
  /\btokens\b[^.;\n]{0,40}\b(?:must|should|cannot|only)\b[^.;\n]{0,20}(?:than|supports|exceed|<=?|≤) ?\d/i,
  // "This model's maximum prompt length is 9 but the request contains 10 tokens", "the max input characters is 9".
  /max(?:imum)?[ _](?:prompt|input|sequence|message)s?[ _](?:length|size|tokens?|char(?:acter)?s?)\b/i,
  /expected max(?:imum)? ?length/i,
  // "Range of input length should be [1, 9]", "length of prompt_tokens (10) must be less than …".
  /\blength of (?:the )?(?:all )?(?:prompt|input|messages?)\w*[^.;\n]{0,40}\b(?:must|should|is|too)\b|\brange of (?:input|prompt)\b/i,
  /\b(?:input|prompt)_(?:tokens|length)\b[^.;\n]{0,30}\b(?:out of range|must be|should be)\b/i,
  // Text Generation Inference.
  /`?inputs`? tokens? \+|prompt and max_new_tokens/i,
  /(?:输入|上下文|提示词|对话|prompt|token\w*|消息|文本|内容|请求).{0,12}(?:过长|超长|太长|超过|超出|超限|超上限)/i,
  /超[过出].{0,12}(?:上下文|输入|长度|token)/i,
  /最大(?:上下文|输入|token)|总长度.{0,4}不[能得]/i,
];
/** Limits that reset on their own, and size limits of single parts. */
const OTHER_LIMIT =
  /rate[ _-]?limit|quota|string (?:is )?too long|\b(?:per|a) (?:minute|second|hour|day|month)\b|\b(?:daily|monthly|hourly)\b|频率|每分钟|每秒|(?<!tokens of )\b(?:image|file|audio|attachment|description|tool)s?\b[^.;\n]{0,40}\b(?:exceed|too (?:long|large)|at most|more than)/i;
const BILLING =
  /credit balance|insufficient (?:credits|balance|funds|quota)|billing|payment required|exceeded your current quota/i;
const AUTH = /invalid api key|incorrect api key|api key not valid|unauthori[sz]ed/i;

function isOverflow(message: string): boolean {
  return OVERFLOW.some((pattern) => pattern.test(message)) && !OTHER_LIMIT.test(message);
}

/** Returns true if a refusal may be about the length of a conversation although its wording is unknown. */
export function mayBeOverflow(message: string): boolean {
  return (
    /\btokens?\b|length|\blong|too (?:large|big)|exceed|window|context|长|超|上限/i.test(message) &&
    !OTHER_LIMIT.test(message)
  );
}

/** Returns true if an error body does not contain a sentence. */
export function isWordless(body: string): boolean {
  return !/[a-z]{2}\s+[a-z]{2}|[\u4e00-\u9fff]{4}/i.test(body.replace(/\b(?:bad request|error)\b/gi, ""));
}

function codeOfStatus(status: number): ModelErrorCode | undefined {
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "billing";
  if (status === 408 || status === 504) return "timeout";
  if (status === 413) return "overflow";
  if (status === 429) return "rate_limit";
  if (status >= 500) return "overloaded";
  return status >= 400 ? "invalid" : undefined;
}

const TEMPORARY: ReadonlySet<ModelErrorCode> = new Set(["rate_limit", "overloaded", "timeout"]);

/**
 * A word may be more precise than the status, but must not contradict it: 401 means a rejected key even if a proxy adds
 * `api_error`, and 503 means a failing server.
 */
function contradicts(word: ModelErrorCode, status: number | undefined): boolean {
  if (status === undefined) return false;
  if (status === 401 || status === 402 || status === 403) return TEMPORARY.has(word);
  return (status === 429 || status >= 500) && (word === "auth" || word === "invalid");
}

function getCode({ words = [], status, message, retryAfterMs }: FailureFacts): ModelErrorCode {
  const fromWord = words
    .map((word = "") => WORDS.get(word))
    .find((code) => code !== undefined && !contradicts(code, status));
  const code = fromWord ?? (status === undefined ? undefined : codeOfStatus(status));
  // The sentence is more specific than a generic word.
  if (code === undefined || code === "invalid") {
    if (isOverflow(message)) return "overflow";
    if (BILLING.test(message)) return "billing";
    if (AUTH.test(message)) return "auth";
  }
  // Some servers respond with 500 to a prompt that is too long.
  if (code === "overloaded" && status === 500 && isOverflow(message)) return "overflow";
  // If the vendor says when a used-up quota resets, it is a rate limit, even if the sentence mentions billing.
  const comesBack = retryAfterMs !== undefined || /per (?:minute|day|second)/i.test(message);
  if (code === "rate_limit" && BILLING.test(message) && !comesBack) return "billing";
  return code ?? "protocol";
}

/** Returns the title or the text of an HTML page, such as proxies send, or `undefined` for any other text. */
export function htmlSummary(text: string): string | undefined {
  if (!/^\s*<(?:!doctype html|html)\b/i.test(text)) return undefined;
  const title = /<title[^<>]*>([^<]*)</i.exec(text)?.[1] ?? "";
  return oneLine(title) || oneLine(text.replace(/<[^<>]*>/g, " ")) || "an empty page";
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * Creates a failure. Its code decides what is tried next.
 * @example failure("overloaded", "The server is busy.", { status: 503, retryAfterMs: 2_000 })
 */
export function failure(
  code: ModelErrorCode,
  message: string,
  facts: Pick<FailureFacts, "status" | "retryAfterMs" | "requestId"> = {},
): Failure {
  const { status, retryAfterMs, requestId } = facts;
  return {
    code,
    message: htmlSummary(message) ?? message,
    ...KINDS[code],
    ...withoutUndefined({ status, retryAfterMs, requestId }),
  };
}

/** Maximum length of a vendor's message, in UTF-16 code units. Some patterns take quadratic time. */
const MAX_MESSAGE_LENGTH = 10_000;

/**
 * Classifies a failure reported by a vendor. Its structured fields take precedence over its message, of which only the
 * first 10,000 characters count.
 */
export function classify(facts: FailureFacts): Failure {
  const message = facts.message.slice(0, MAX_MESSAGE_LENGTH);
  return failure(getCode({ ...facts, message }), message, facts);
}

/** Maximum length of a quote from an unknown error body, in UTF-16 code units. */
const MAX_QUOTE_LENGTH = 500;

/**
 * Returns the facts of a refusal that do not depend on the vendor's body format.
 *
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
  return { message, status, ...withoutUndefined({ retryAfterMs: getRetryAfterMs(headers, now) }) };
}

/** Reads `retry-after-ms` or `retry-after` (seconds or an HTTP date) and returns the delay in milliseconds. */
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
/** System error codes of failed connections. `ENOENT` and `EACCES` are not among them. */
const NETWORK_CODE =
  /^(?:E(?:CONN[A-Z]+|NET[A-Z]+|HOST[A-Z]+|PIPE|PROTO|NOTFOUND|NOTCONN|ADDRNOTAVAIL|AI_[A-Z]+)|UND_ERR_[A-Z_]+|HPE_[A-Z_]+|ERR_(?:TLS|SSL|STREAM|HTTP|SOCKET)[A-Z_\d]*|[A-Z_]*CERT[A-Z_]*)$/;
/**
 * Codes of a request that could never be sent: an invalid URL or header value, or a missing package. Two groups of
 * "invalid" codes are caused by the connection instead: HTTP/2 sessions and streams that ended, and errors from OpenSSL
 * (`ERR_SSL_…`).
 */
const OWN_FAULT =
  /^(?:(?:UND_)?ERR_(?!SSL)[A-Z\d_]*INVALID_(?!SESSION|STREAM)[A-Z_]+|ERR_(?:MODULE|PACKAGE|UNSUPPORTED|SOCKET_BAD)_[A-Z_]+|ENOENT|EACCES)$/;

/**
 * Classifies an exception based on the codes in its `cause` chain: a broken connection is `network`, a request that
 * could not be sent is `invalid`, and unreadable data is `protocol`.
 */
export function classifyException(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  for (const cause of causes(error)) {
    const code: unknown = "code" in cause ? cause.code : undefined;
    if (typeof code === "string") {
      const reason = `${cause.message} (${code})`;
      if (TIMEOUT_CODES.has(code)) return failure("timeout", `The connection timed out: ${reason}`);
      // Check this before NETWORK_CODE, which also matches codes such as `ERR_HTTP_INVALID_HEADER_VALUE`.
      if (OWN_FAULT.test(code)) return failure("invalid", `The request could not be sent: ${reason}`);
      if (NETWORK_CODE.test(code)) return failure("network", `The connection failed: ${reason}`);
    }
    if (
      /terminated|socket hang up|other side closed|fetch failed|Connection error/i.test(cause.message) &&
      cause.cause === undefined
    )
      return failure("network", cause.message);
  }
  return failure("protocol", `The response could not be read: ${reasonOf(error)}`);
}

function* causes(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; depth < 6 && cause instanceof Error; depth++, cause = cause.cause) yield cause;
}
