import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  isChannelError,
} from "@signalbox/channel";
import { FeishuHttpError } from "./http.ts";

/** Codes of an expired or revoked tenant token. The call is repeated once with a new token. */
export const staleToken: readonly number[] = [99991661, 99991663, 99991664, 99991668, 99991671, 99991677];

/** Sources: the open platform's pages of general error codes and of each method of `im`, `contact` and `cardkit`. */
const codes: Readonly<Record<number, readonly [ChannelErrorCode, ChannelErrorScope?]>> = {
  10002: ["invalid"],
  10003: ["auth", "account"],
  10014: ["auth", "account"],
  10012: ["auth", "account"],
  99991400: ["rate_limited", "account"],
  99991672: ["permission", "account"],
  99991679: ["permission", "account"],
  99992402: ["invalid"],
  200220: ["invalid"],
  200740: ["not_found"],
  200750: ["permission"],
  200770: ["invalid"],
  200810: ["transient"],
  200850: ["permission"],
  200860: ["too_large"],
  230001: ["invalid"],
  230002: ["permission", "conversation"],
  230006: ["permission", "account"],
  230011: ["not_found"],
  230013: ["permission", "conversation"],
  230017: ["permission"],
  230018: ["permission", "conversation"],
  230019: ["not_found", "conversation"],
  230020: ["rate_limited", "conversation"],
  230022: ["invalid"],
  230025: ["too_large"],
  230027: ["permission", "account"],
  230028: ["invalid"],
  230029: ["not_found", "conversation"],
  230031: ["permission"],
  230034: ["not_found", "conversation"],
  230035: ["permission", "conversation"],
  230049: ["transient"],
  230050: ["permission"],
  230053: ["permission", "conversation"],
  230072: ["permission"],
  230075: ["permission"],
  230099: ["invalid"],
  230110: ["not_found"],
  231001: ["invalid"],
  231003: ["not_found"],
  230055: ["invalid"],
  234001: ["invalid"],
  234003: ["not_found"],
  234006: ["too_large"],
  234007: ["permission", "account"],
  234010: ["invalid"],
  234011: ["invalid"],
  234039: ["too_large"],
  234037: ["too_large"],
  300122: ["invalid"],
  300302: ["invalid"],
  300307: ["invalid"],
  300309: ["permission"],
  300311: ["permission"],
  300317: ["invalid"],
  41050: ["permission"],
};

/** The settings with which an app authenticates. Feishu's codes do not say which of the two is wrong. */
export const CREDENTIALS: readonly string[] = ["appId", "appSecret"];

/** Default delay if Feishu does not send one, in milliseconds. */
const defaultWaitMs = 1000;

/**
 * Converts any error of a call to a {@link ChannelError}.
 *
 * @param write true if the call changes state, so that a missing response leaves its outcome unknown
 */
export function toChannelError(error: unknown, what: string, write: boolean): ChannelError {
  if (isChannelError(error)) return error;
  if (!(error instanceof FeishuHttpError)) {
    const reason = error instanceof Error ? error.message : "failed";
    return new ChannelError(write ? "unknown_outcome" : "transient", `Feishu: ${what}: ${reason}`, {
      cause: error,
    });
  }
  const [code, scope] = classify(error, write);
  const wait = error.retryAfterMs ?? (code === "rate_limited" ? defaultWaitMs : undefined);
  return new ChannelError(code, `Feishu: ${what}: ${error.message}`, {
    scope,
    platformCode: error.code?.toString(),
    settings: code === "auth" ? CREDENTIALS : undefined,
    retryAfterMs: wait,
    cause: error,
  });
}

function classify(error: FeishuHttpError, write: boolean): readonly [ChannelErrorCode, ChannelErrorScope?] {
  const listed = error.code === undefined ? undefined : codes[error.code];
  if (listed !== undefined) return listed;
  if (error.code !== undefined && staleToken.includes(error.code)) return ["auth", "account"];
  const { status } = error;
  if (status === undefined) return [error.unsent || !write ? "transient" : "unknown_outcome", "account"];
  if (status === 429) return ["rate_limited", "account"];
  if (status === 401) return ["auth", "account"];
  if (status === 403) return ["permission"];
  if (status === 404) return ["not_found"];
  if (status === 413) return ["too_large"];
  if (status >= 500 || (status < 400 && error.code === undefined))
    return [write ? "unknown_outcome" : "transient", "account"];
  return ["invalid"];
}
