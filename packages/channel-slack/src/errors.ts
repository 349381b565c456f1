import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  describeFailedRequest,
  failedToConnect,
  isChannelError,
  objectAt,
  textAt,
} from "@signalbox/channel";
import { limits } from "./limits.ts";

/** Slack's error codes. Source: the reference page of each method. Unlisted codes become `invalid`. */
const errorCodes: Readonly<Record<string, readonly [ChannelErrorCode, ChannelErrorScope?]>> = {
  account_inactive: ["auth", "account"],
  invalid_auth: ["auth", "account"],
  not_authed: ["auth", "account"],
  token_expired: ["auth", "account"],
  token_revoked: ["auth", "account"],
  org_login_required: ["auth", "account"],
  team_access_not_granted: ["permission"],
  access_denied: ["permission"],
  cant_delete_message: ["permission"],
  cant_update_message: ["permission"],
  edit_window_closed: ["permission"],
  is_archived: ["permission", "conversation"],
  missing_scope: ["permission"],
  no_permission: ["permission"],
  not_allowed: ["permission"],
  not_in_channel: ["permission", "conversation"],
  restricted_action: ["permission", "conversation"],
  restricted_action_non_threadable_channel: ["permission", "conversation"],
  restricted_action_read_only_channel: ["permission", "conversation"],
  restricted_action_thread_locked: ["permission", "conversation"],
  restricted_action_thread_only_channel: ["permission", "conversation"],
  channel_is_limited_access: ["permission", "conversation"],
  cannot_dm_bot: ["permission", "conversation"],
  messages_tab_disabled: ["permission", "conversation"],
  user_not_in_channel: ["permission", "conversation"],
  channel_not_found: ["not_found", "conversation"],
  file_not_found: ["not_found"],
  message_not_found: ["not_found"],
  thread_not_found: ["not_found"],
  user_not_found: ["not_found"],
  users_not_found: ["not_found"],
  msg_blocks_too_long: ["too_large"],
  msg_too_long: ["too_large"],
  file_upload_size_restricted: ["too_large"],
  message_limit_exceeded: ["rate_limited", "account"],
  rate_limited: ["rate_limited", "account"],
  ratelimited: ["rate_limited", "account"],
  feature_not_enabled: ["unsupported"],
  invalid_name: ["unsupported"],
  method_deprecated: ["unsupported"],
  not_allowed_token_type: ["unsupported"],
  unknown_method: ["unsupported"],
};
const errorCodeMap = new Map(Object.entries(errorCodes));

/** Errors after which, according to Slack, part of the request may have been executed. */
const partialFailureCodes = ["fatal_error", "internal_error", "request_timeout", "service_unavailable"];

interface CallFailure {
  readonly code: ChannelErrorCode;
  readonly scope?: ChannelErrorScope | undefined;
  readonly reason: string;
  readonly platformCode?: string;
  readonly retryAfterMs?: number;
}

/**
 * Converts any error of an SDK call to a {@link ChannelError}.
 *
 * @param write true if the call changes state, so that a missing response leaves its outcome unknown
 * @param token the setting with which the call authenticates. Default: `botToken`
 */
export function toChannelError(
  error: unknown,
  what: string,
  write: boolean,
  token: "botToken" | "appToken" = "botToken",
): ChannelError {
  if (isChannelError(error)) return error;
  const { code, scope, reason, platformCode, retryAfterMs } = readFailure(error, write);
  return new ChannelError(code, `Slack: ${what}: ${reason}`, {
    scope: scope ?? "message",
    platformCode,
    settings: code === "auth" ? [token] : undefined,
    retryAfterMs: code === "rate_limited" ? (retryAfterMs ?? limits.rateWaitMs) : undefined,
    cause: error,
  });
}

/** Reads the SDK's errors. Each type has its own code and fields. */
function readFailure(error: unknown, write: boolean): CallFailure {
  const open: ChannelErrorCode = write ? "unknown_outcome" : "transient";
  const fields = Object.fromEntries(Object.entries(error ?? {}));
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
    case "slack_webapi_platform_error":
      return readErrorCode(textAt(objectAt(fields, "data"), "error") ?? "", open);
    case "slack_webapi_rate_limited_error":
      return {
        code: "rate_limited",
        scope: "account",
        reason: "rate limited",
        retryAfterMs: Number(fields["retryAfter"]) * 1000,
      };
    case "slack_webapi_http_error": {
      const status = Number(fields["statusCode"]);
      return { ...classifyStatus(status, open), reason: `HTTP ${status}` };
    }
    case "slack_webapi_request_error": {
      const cause = describeFailedRequest(fields["original"]);
      return failedToConnect(fields["original"])
        ? { code: "transient", scope: "account", reason: cause ?? "could not be reached" }
        : { code: open, scope: "account", reason: cause ?? "no response" };
    }
    default:
      return { code: open, reason: error instanceof Error ? error.message : "failed" };
  }
}

function readErrorCode(word: string, open: ChannelErrorCode): CallFailure {
  // If the body is not JSON, the SDK uses the body as the error code.
  if (!/^[a-z0-9_:.-]{1,80}$/.test(word))
    return { code: open, scope: "account", reason: "the response is not JSON" };
  const known = { reason: word, platformCode: word };
  if (partialFailureCodes.includes(word)) return { ...known, code: open, scope: "account" };
  const [code, scope] = errorCodeMap.get(word) ?? ["invalid"];
  return { ...known, code, scope };
}

function classifyStatus(status: number, open: ChannelErrorCode): Pick<CallFailure, "code" | "scope"> {
  if (status >= 500) return { code: open, scope: "account" };
  if (status === 401) return { code: "auth", scope: "account" };
  if (status === 403) return { code: "permission" };
  if (status === 404) return { code: "not_found" };
  return { code: status === 413 ? "too_large" : "invalid" };
}

/** Returns Slack's own error code. */
export function getErrorCode(error: unknown): string | undefined {
  return isChannelError(error) ? error.platformCode : undefined;
}
