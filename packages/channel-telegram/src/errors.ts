import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  describeFailedRequest,
  failedToConnect,
  isChannelError,
  parseRetryAfter,
} from "@signalbox/channel";

/** An error response. Source: "Making requests" and `ResponseParameters` in the Bot API reference. */
export interface Refusal {
  readonly code: number;
  readonly description: string;
  readonly retryAfterSeconds?: number | undefined;
  /** The id of the supergroup that the group became. */
  readonly migratedTo?: number | undefined;
}

/** Telegram's error descriptions for a topic that is closed or does not exist. */
const TOPIC_REFUSAL = /message thread not found|TOPIC_(?:CLOSED|DELETED|ID_INVALID)/i;

/** Telegram's error for a group that has become a supergroup. */
export class ChatMigratedError extends ChannelError {
  /** The id of the supergroup. */
  readonly chatId: string;

  constructor(chatId: number, message: string) {
    super("not_found", message, { scope: "conversation", platformCode: "400" });
    this.chatId = String(chatId);
  }
}

/** A response that is not from Telegram, for instance the error page of a proxy. */
export class ForeignAnswerError extends Error {
  override readonly name = "ForeignAnswerError";
  readonly status: number;
  readonly retryAfter: string | null;

  constructor({ status, headers }: Pick<Response, "status" | "headers">) {
    super(`HTTP ${status}, not from Telegram`);
    this.status = status;
    this.retryAfter = headers.get("retry-after");
  }
}

type Class = readonly [ChannelErrorCode, ChannelErrorScope?];

/** Telegram has no error codes except HTTP status codes. The description contains the reason for a 400 or 403. */
const descriptions: readonly (readonly [RegExp, Class])[] = [
  [/chat not found|user not found|PEER_ID_INVALID/i, ["not_found", "conversation"]],
  [TOPIC_REFUSAL, ["not_found", "conversation"]],
  [
    /message to (?:edit|delete|be replied|reply|react) not found|repl(?:y|ied) message not found/i,
    ["not_found"],
  ],
  [/MESSAGE_ID_INVALID/i, ["not_found"]],
  [/message (?:is too long|caption is too long)|MEDIA_CAPTION_TOO_LONG|file is too big/i, ["too_large"]],
  [/message can't be (?:edited|deleted)/i, ["permission"]],
  [/REACTION_INVALID/i, ["unsupported"]],
  [
    /not enough rights|need administrator rights|have no rights|CHAT_(?:WRITE|SEND_PLAIN)_FORBIDDEN|CHAT_RESTRICTED/i,
    ["permission", "conversation"],
  ],
  [/query is too old|QUERY_ID_INVALID/i, ["not_found"]],
];

/** Default delay in milliseconds if Telegram sends no `retry_after`. */
const defaultWaitMs = 1_000;

/**
 * Converts an error response to a ChannelError.
 *
 * @param write true if the call changes state, so that a server error leaves its outcome unknown
 */
export function toRefusalError(refusal: Refusal, what: string, write: boolean): ChannelError {
  const { description, retryAfterSeconds, migratedTo } = refusal;
  if (migratedTo !== undefined)
    return new ChatMigratedError(
      migratedTo,
      `Telegram: ${what}: ${description}, which is telegram:${migratedTo}`,
    );
  const [code, scope = "message"] = classify(refusal, write);
  const waitMs = retryAfterSeconds === undefined ? defaultWaitMs : retryAfterSeconds * 1_000;
  return new ChannelError(code, `Telegram: ${what}: ${description}`, {
    scope,
    platformCode: String(refusal.code),
    settings: code === "auth" ? ["botToken"] : undefined,
    retryAfterMs: code === "rate_limited" ? waitMs : undefined,
  });
}

/** Returns true if Telegram refused a message because of its topic. */
export function isTopicRefusal(error: unknown): boolean {
  return isChannelError(error) && TOPIC_REFUSAL.test(error.message);
}

function classify({ code, description }: Refusal, write: boolean): Class {
  // Telegram responds to a malformed token with 404 and to a revoked one with 401.
  if (code === 401 || code === 404) return ["auth", "account"];
  if (code === 409) return ["transient", "account"];
  if (code === 413) return ["too_large"];
  if (code === 429) return ["rate_limited", "conversation"];
  if (code >= 500) return [write ? "unknown_outcome" : "transient", "account"];
  const listed = descriptions.find(([pattern]) => pattern.test(description));
  if (listed !== undefined) return listed[1];
  return code === 403 ? ["permission", "conversation"] : ["invalid"];
}

/** Converts a failed request to a ChannelError. The cause is omitted, because it can contain the URL with the token. */
export function toNoAnswerError(error: unknown, what: string, write: boolean): ChannelError {
  if (isChannelError(error)) return error;
  if (error instanceof ForeignAnswerError) return toForeignError(error, what, write);
  const code = write && !failedToConnect(error) ? "unknown_outcome" : "transient";
  return new ChannelError(code, `Telegram: ${what}: ${describeFailedRequest(error) ?? "no response"}`, {
    scope: "account",
  });
}

/**
 * Converts the response of another server. A proxy responds with 502 or 503 if it cannot reach Telegram, and with other
 * errors if it does not forward the request. After any other response, Telegram may have handled the request.
 */
function toForeignError(error: ForeignAnswerError, what: string, write: boolean): ChannelError {
  const { status, message } = error;
  const retryAfterMs = parseRetryAfter(error.retryAfter, Date.now());
  const create = (code: ChannelErrorCode, scope: ChannelErrorScope): ChannelError =>
    new ChannelError(code, `Telegram: ${what}: ${message}`, { scope, retryAfterMs });
  if (status === 413) return create("too_large", "message");
  if (status === 429) return create("rate_limited", "account");
  const isForwarded = status < 400 || (status >= 500 && status !== 502 && status !== 503);
  return create(isForwarded && write ? "unknown_outcome" : "transient", "account");
}
