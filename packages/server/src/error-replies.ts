import type { ErrorCode, Problem } from "@signalbox/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ApiError } from "./api-error.ts";

/** An error that every surface can report, each in its own format. */
interface CommonError {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  /** Advice for the user of the client. */
  readonly remedy?: string;
  /** Error code of `/api`. */
  readonly code: ErrorCode;
  /** Error type and code of `/v1` (OpenAI's API reference, "Error codes"). */
  readonly openAi: { readonly type: string; readonly code?: string };
}

/** Error replies that all surfaces have in common. */
export interface ErrorReplies {
  unauthorized(context: Context): Response;
  forbidden(context: Context): Response;
  throttled(context: Context): Response;
  tooLarge(context: Context, maxBytes: number): Response;
  wrongHost(context: Context): Response;
  notJson(context: Context): Response;
  notFound(context: Context): Response;
  internal(context: Context): Response;
  /** A request failed because the database cannot be used at the moment. @param isDiskFull true if that is the cause */
  storeUnavailable(context: Context, isDiskFull: boolean): Response;
}

/** @param reply formats an error for one surface */
export function errorReplies(reply: (context: Context, error: CommonError) => Response): ErrorReplies {
  return {
    unauthorized: (context) => reply(context, UNAUTHORIZED),
    forbidden: (context) => reply(context, FORBIDDEN),
    throttled: (context) => reply(context, THROTTLED),
    tooLarge: (context, maxBytes) => reply(context, tooLarge(maxBytes)),
    wrongHost: (context) => reply(context, WRONG_HOST),
    notJson: (context) => reply(context, NOT_JSON),
    notFound: (context) => reply(context, notFound(context)),
    internal: (context) => reply(context, INTERNAL),
    storeUnavailable: (context, isDiskFull) => {
      context.header("retry-after", String(STORE_RETRY_SECONDS));
      return reply(context, isDiskFull ? DISK_FULL : STORE_UNAVAILABLE);
    },
  };
}

/** Error replies of every surface except the OpenAI-compatible one, in the format of `ErrorBody`. */
export const apiErrors = {
  ...errorReplies((context, { status, code, message, remedy }) =>
    apiError(context, status, { code, message, remedy }),
  ),
  wrongHookSecret: (context: Context): Response =>
    apiError(context, 401, {
      code: "unauthorized",
      message: "The secret is missing or wrong.",
      remedy:
        "Send the hook's secret as `Authorization: Bearer …`, or an owner's token if the hook has no secret.",
    }),
  badJson: (context: Context, remedy: string): Response =>
    apiError(context, 400, { code: "bad_request", message: "The request body is invalid.", remedy }),
  badQuery: (context: Context, remedy: string): Response =>
    apiError(context, 400, { code: "bad_request", message: "The URL is invalid.", remedy }),
  /** The route exists, but the resource that it names does not. */
  missing: (context: Context, what: string): Response =>
    apiError(context, 404, { code: "not_found", message: `There is no ${what}.` }),
  busy: (context: Context): Response =>
    apiError(context, 409, {
      code: "busy",
      message: "A run or a sub-agent is still working in this conversation.",
      remedy: "Stop it, or wait until it has finished.",
    }),
  fileTooLarge: (context: Context): Response =>
    apiError(context, 413, {
      code: "too_large",
      message: "The file is larger than the gateway accepts.",
      remedy: "Send a smaller file, or a link to it.",
    }),
  notBytes: (context: Context): Response =>
    apiError(context, 415, {
      code: "bad_request",
      message: "This content type is not accepted for uploads.",
      remedy: "Send each piece as application/octet-stream.",
    }),
  uploadsFull: (context: Context): Response =>
    apiError(context, 507, {
      code: "full",
      message: "You have uploaded too many files today.",
      remedy: "Try again tomorrow, when today's files have been removed.",
    }),
  tooManyStreams: (context: Context): Response =>
    apiError(context, 429, {
      code: "throttled",
      message: "Too many event streams are open with this token.",
      remedy: "Close some, or watch several conversations over one WebSocket.",
    }),
  noAccount: (context: Context, channel: string, account: string): Response =>
    apiError(context, 404, {
      code: "not_found",
      message: `Channel ${channel} has no running account ${account} that accepts webhooks.`,
      remedy: `Check channels.${channel}.accounts in the configuration.`,
    }),
  signInAgain: (context: Context): Response =>
    apiError(context, 403, {
      code: "sign_in_again",
      message: "This change requires that you signed in within the last hour.",
      remedy: "Sign in again with a token or a new link from `signalbox link`, and repeat the change.",
    }),
  noRole: (context: Context): Response =>
    apiError(context, 403, {
      code: "forbidden",
      message: "None of your groups may use this gateway.",
      remedy: "Ask the operator to add one of your groups to gateway.auth.roles.",
    }),
  wrongAddress: (context: Context, url: string): Response =>
    apiError(context, 409, {
      code: "conflict",
      message: "This sign-in works only at the public address of the gateway.",
      remedy: `Open ${url}, or set gateway.publicUrl to the address that people use.`,
    }),
  providerFailed: (context: Context, isUnreachable: boolean): Response =>
    apiError(context, 503, {
      code: "unavailable",
      message: isUnreachable
        ? "The sign-in provider cannot be reached."
        : "The sign-in provider cannot be used. The gateway's log names the cause.",
      remedy: "Try again later, or sign in with a link from `signalbox link`.",
    }),
  refused: (context: Context, { status, code, message, remedy, details }: ApiError): Response =>
    apiError(context, status, { code, message, remedy, details }),
  unavailable: (context: Context, message: string): Response =>
    apiError(context, 503, { code: "full", message }),
};

function apiError(
  context: Context,
  status: ContentfulStatusCode,
  error: Problem & { code: ErrorCode },
): Response {
  return context.json({ error }, status);
}

const INVALID = "invalid_request_error";

const UNAUTHORIZED: CommonError = {
  status: 401,
  message: "The token is missing or wrong.",
  remedy:
    "Send the gateway's token (gateway.auth.token, or the file `token` in the gateway's home) or a token created with `signalbox tokens add` as `Authorization: Bearer …`, or sign in with it.",
  code: "unauthorized",
  openAi: { type: INVALID, code: "invalid_api_key" },
};

const FORBIDDEN: CommonError = {
  status: 403,
  message: "This token may not do this.",
  remedy: "Use the gateway's own token, or a token with a role that may, such as owner.",
  code: "forbidden",
  openAi: { type: "permission_error" },
};

const THROTTLED: CommonError = {
  status: 429,
  message: "Too many failed sign-in attempts.",
  remedy: "Wait a minute and try again.",
  code: "throttled",
  openAi: { type: "requests", code: "rate_limit_exceeded" },
};

const WRONG_HOST: CommonError = {
  status: 403,
  message: "The request is for another host, or comes from a page of another site.",
  remedy: "Use the address the gateway listens on, or add the name to gateway.allowedHosts.",
  code: "forbidden",
  openAi: { type: INVALID, code: "wrong_host" },
};

const NOT_JSON: CommonError = {
  status: 415,
  message: "The content type must be JSON.",
  remedy: "Send the body as application/json.",
  code: "bad_request",
  openAi: { type: INVALID, code: "unsupported_media_type" },
};

const INTERNAL: CommonError = {
  status: 500,
  message: "Something went wrong in the gateway. Its log has the details.",
  code: "internal",
  openAi: { type: "server_error" },
};

const STORE_RETRY_SECONDS = 5;

const STORE_UNAVAILABLE: CommonError = {
  status: 503,
  message: "The gateway cannot use its database at the moment.",
  remedy: "Try again. `signalbox doctor` names the cause.",
  code: "unavailable",
  openAi: { type: "server_error", code: "unavailable" },
};

const DISK_FULL: CommonError = {
  status: 503,
  message: "The disk of the gateway is full, so it can save nothing.",
  remedy:
    "Free some space on the volume of the gateway's home, then try again. The gateway needs no restart. `signalbox doctor` shows the free space.",
  code: "disk_full",
  openAi: { type: "server_error", code: "unavailable" },
};

function tooLarge(maxBytes: number): CommonError {
  return {
    status: 413,
    message: `The body is larger than ${maxBytes / 1_000_000} MB.`,
    remedy: "Send a smaller body.",
    code: "too_large",
    openAi: { type: INVALID, code: "request_too_large" },
  };
}

function notFound({ req }: Context): CommonError {
  return {
    status: 404,
    message: `There is no ${req.method} ${req.path}.`,
    code: "not_found",
    openAi: { type: INVALID, code: "not_found" },
  };
}
