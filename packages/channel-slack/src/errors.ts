import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  isChannelError,
  neverSent,
  objectAt,
  textAt,
} from "@signalbox/channel";
import { limits } from "./limits.ts";

/** Slack's words for refusals. Source: the reference page of each method. Any other word is `invalid`. */
const refusals: Readonly<Record<string, readonly [ChannelErrorCode, ChannelErrorScope?]>> = {
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
const words = new Map(Object.entries(refusals));

/** Answers after which, as Slack says, a part of what was asked may have been done. */
const halfDone = ["fatal_error", "internal_error", "request_timeout", "service_unavailable"];

interface CallFailure {
  readonly code: ChannelErrorCode;
  readonly scope?: ChannelErrorScope | undefined;
  readonly reason: string;
  readonly platformCode?: string;
  readonly retryAfterMs?: number;
}

/**
 * Whatever a call through the SDK threw, as a {@link ChannelError}. `write`: the call changes something, so that an
 * answer that did not come leaves the outcome open.
 */
export function toChannelError(error: unknown, what: string, write: boolean): ChannelError {
  if (isChannelError(error)) return error;
  const { code, scope, reason, platformCode, retryAfterMs } = readFailure(error, write);
  return new ChannelError(code, `Slack: ${what}: ${reason}`, {
    scope: scope ?? "message",
    ...(platformCode === undefined ? {} : { platformCode }),
    ...(code === "rate_limited" ? { retryAfterMs: retryAfterMs ?? limits.rateWaitMs } : {}),
    cause: error,
  });
}

/** The SDK marks its errors by a code; what lies behind each is in fields of its own. */
function readFailure(error: unknown, write: boolean): CallFailure {
  const open: ChannelErrorCode = write ? "unknown_outcome" : "transient";
  const fields = Object.fromEntries(Object.entries(error ?? {}));
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
    case "slack_webapi_platform_error":
      return refusal(textAt(objectAt(fields, "data"), "error") ?? "", open);
    case "slack_webapi_rate_limited_error":
      return {
        code: "rate_limited",
        scope: "account",
        reason: "too many calls",
        retryAfterMs: Number(fields["retryAfter"]) * 1000,
      };
    case "slack_webapi_http_error": {
      const status = Number(fields["statusCode"]);
      return { ...byStatus(status, open), reason: `HTTP ${status}` };
    }
    case "slack_webapi_request_error":
      return neverSent(fields["original"])
        ? { code: "transient", scope: "account", reason: "could not be reached" }
        : { code: open, scope: "account", reason: "no answer" };
    default:
      return { code: open, reason: error instanceof Error ? error.message : "failed" };
  }
}

function refusal(word: string, open: ChannelErrorCode): CallFailure {
  // A body that is no JSON comes here as it is.
  if (!/^[a-z0-9_:.-]{1,80}$/.test(word))
    return { code: open, scope: "account", reason: "an answer that is none" };
  const known = { reason: word, platformCode: word };
  if (halfDone.includes(word)) return { ...known, code: open, scope: "account" };
  const [code, scope] = words.get(word) ?? ["invalid"];
  return { ...known, code, scope };
}

function byStatus(status: number, open: ChannelErrorCode): Pick<CallFailure, "code" | "scope"> {
  if (status >= 500) return { code: open, scope: "account" };
  if (status === 401) return { code: "auth", scope: "account" };
  if (status === 403) return { code: "permission" };
  if (status === 404) return { code: "not_found" };
  return { code: status === 413 ? "too_large" : "invalid" };
}

/** Slack's own word for a refusal. */
export function wordOf(error: unknown): string | undefined {
  return isChannelError(error) ? error.platformCode : undefined;
}
