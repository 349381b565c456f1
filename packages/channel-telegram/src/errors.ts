import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  isChannelError,
  neverSent,
} from "@signalbox/channel";

/** What Telegram answered in place of a result. Source: the Bot API's `ResponseParameters` and "Making requests". */
export interface Refusal {
  readonly code: number;
  readonly description: string;
  readonly retryAfterSeconds?: number | undefined;
  /** The chat that a group has become. */
  readonly migratedTo?: number | undefined;
}

type Class = readonly [ChannelErrorCode, ChannelErrorScope?];

/** Telegram has no codes beyond HTTP's: what a 400 or 403 is about stands in its description alone. */
const descriptions: readonly (readonly [RegExp, Class])[] = [
  [/chat not found|user not found|PEER_ID_INVALID/i, ["not_found", "conversation"]],
  [/group chat was upgraded/i, ["not_found", "conversation"]],
  [/message thread not found|TOPIC_(?:CLOSED|DELETED)/i, ["not_found", "conversation"]],
  [/message to (?:edit|delete|be replied|react) not found|MESSAGE_ID_INVALID/i, ["not_found"]],
  [/message (?:is too long|caption is too long)|MEDIA_CAPTION_TOO_LONG|file is too big/i, ["too_large"]],
  [/message can't be (?:edited|deleted)/i, ["permission"]],
  [/REACTION_INVALID/i, ["unsupported"]],
  [/not enough rights|have no rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED/i, ["permission", "conversation"]],
  [/query is too old|QUERY_ID_INVALID/i, ["not_found"]],
];

/** How long to wait where Telegram names no time. */
const defaultWaitMs = 1_000;

/** `write`: the call changes something, so that an answer which did not come leaves the outcome open. */
export function refused(refusal: Refusal, what: string, write: boolean): ChannelError {
  const [code, scope = "message"] = classify(refusal, write);
  const { description, retryAfterSeconds, migratedTo } = refusal;
  const waitMs = retryAfterSeconds === undefined ? defaultWaitMs : retryAfterSeconds * 1_000;
  const why = migratedTo === undefined ? description : `${description}, which is telegram:${migratedTo}`;
  return new ChannelError(code, `Telegram: ${what}: ${why}`, {
    scope,
    platformCode: String(refusal.code),
    ...(code === "rate_limited" ? { retryAfterMs: waitMs } : {}),
  });
}

function classify({ code, description }: Refusal, write: boolean): Class {
  // A token of the wrong form is answered as a page that does not exist, a revoked one as unauthorized.
  if (code === 401 || code === 404) return ["auth", "account"];
  if (code === 409) return ["transient", "account"];
  if (code === 413) return ["too_large"];
  if (code === 429) return ["rate_limited", "conversation"];
  if (code >= 500) return [write ? "unknown_outcome" : "transient", "account"];
  const listed = descriptions.find(([pattern]) => pattern.test(description));
  if (listed !== undefined) return listed[1];
  return code === 403 ? ["permission", "conversation"] : ["invalid"];
}

/** A request to which no answer came. The cause stays out of the error: it may hold the address, token and all. */
export function unanswered(error: unknown, what: string, write: boolean): ChannelError {
  if (isChannelError(error)) return error;
  const code = write && !neverSent(error) ? "unknown_outcome" : "transient";
  return new ChannelError(code, `Telegram: ${what}: no answer`, { scope: "account" });
}
