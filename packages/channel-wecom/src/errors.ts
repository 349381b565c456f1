import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  isChannelError,
} from "@signalbox/channel";
import { limits } from "./limits.ts";

/** The `req_id` is unknown or too old. */
const INVALID_REQ_ID = "846605";
/** The stream has ended, or its first frame was sent too long ago. */
const STREAM_ENDED = "846608";

/**
 * WeCom's error codes. Sources: the page of global error codes (document/path/90313); for those above 800,000, reports
 * of users of the long connection. Unlisted codes become `invalid`.
 */
const errorCodes: Readonly<Record<string, readonly [ChannelErrorCode, ChannelErrorScope?]>> = {
  // "System busy". The request may have been carried out.
  "-1": ["unknown_outcome", "account"],
  "40001": ["auth", "account"],
  "40003": ["not_found", "conversation"],
  "40006": ["too_large"],
  "40009": ["too_large"],
  "40011": ["too_large"],
  "45001": ["too_large"],
  "45002": ["too_large"],
  "45009": ["rate_limited"],
  "45033": ["rate_limited"],
  "48002": ["permission"],
  "60011": ["permission"],
  "81013": ["not_found", "conversation"],
  "86008": ["not_found", "conversation"],
  "853000": ["auth", "account"],
  [INVALID_REQ_ID]: ["not_found"],
  [STREAM_ENDED]: ["not_found"],
};
const errorCodeMap = new Map(Object.entries(errorCodes));
const MAX_REASON_CHARS = 200;

/** The error fields of WeCom's responses. */
export interface Refusal {
  readonly errcode: number;
  readonly errmsg?: string | undefined;
}

/**
 * Converts an error response.
 *
 * @param what the operation, as in `sending a message`
 * @param write false if the request has no visible effect, so that it can be repeated after an unknown outcome
 */
export function toChannelError({ errcode, errmsg = "" }: Refusal, what: string, write = true): ChannelError {
  const platformCode = String(errcode);
  const [code, scope] = errorCodeMap.get(platformCode) ?? ["invalid"];
  return new ChannelError(
    code === "unknown_outcome" && !write ? "transient" : code,
    `WeCom: ${what}: ${platformCode} ${errmsg.slice(0, MAX_REASON_CHARS)}`.trimEnd(),
    {
      scope,
      platformCode,
      settings: code === "auth" ? ["botId", "secret"] : undefined,
      retryAfterMs: code === "rate_limited" ? limits.rateWaitMs : undefined,
    },
  );
}

/** Returns true if WeCom no longer accepts replies to a message. */
export function isReplyExpired(error: unknown): boolean {
  return isChannelError(error) && error.platformCode === INVALID_REQ_ID;
}

/** Returns true if WeCom does not accept an update of a stream, which therefore exists. */
export function isStreamEnded(error: unknown): boolean {
  return isChannelError(error) && error.platformCode === STREAM_ENDED;
}
