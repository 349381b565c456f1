import type { ErrorCode } from "@signalbox/protocol";
import type { Context } from "hono";

function apiError(
  context: Context,
  status: 400 | 401 | 403 | 404 | 413 | 415 | 429 | 500 | 503,
  error: { code: ErrorCode; message: string; remedy?: string },
): Response {
  return context.json({ error }, status);
}

/** Error replies of `/api`, of webhooks and of everything that is not the OpenAI surface. */
export const apiErrors = {
  unauthorized: (context: Context): Response =>
    apiError(context, 401, {
      code: "unauthorized",
      message: "The token is missing or wrong.",
      remedy:
        "Sign in with the gateway's token (gateway.auth.token, or the file `token` in the gateway's home).",
    }),
  throttled: (context: Context): Response =>
    apiError(context, 429, {
      code: "throttled",
      message: "Too many wrong tokens.",
      remedy: "Wait a minute and try again.",
    }),
  tooLarge: (context: Context): Response =>
    apiError(context, 413, { code: "too_large", message: "The body is over 1 MB.", remedy: "Send less." }),
  wrongHost: (context: Context): Response =>
    apiError(context, 403, {
      code: "forbidden",
      message: "The Host or Origin header does not name this gateway.",
      remedy: "Use the address the gateway listens on, or add the name to gateway.allowedHosts.",
    }),
  notJson: (context: Context): Response =>
    apiError(context, 415, {
      code: "bad_request",
      message: "The content type is not JSON.",
      remedy: "Send application/json.",
    }),
  badJson: (context: Context, remedy: string): Response =>
    apiError(context, 400, {
      code: "bad_request",
      message: "The body is not what is expected here.",
      remedy,
    }),
  notFound: (context: Context): Response =>
    apiError(context, 404, {
      code: "not_found",
      message: `There is no ${context.req.method} ${context.req.path}.`,
    }),
  noAccount: (context: Context, channel: string, account: string): Response =>
    apiError(context, 404, {
      code: "not_found",
      message: `There is no running account ${account} of channel ${channel} that takes webhooks.`,
      remedy: `Check channels.${channel}.accounts in the configuration.`,
    }),
  unavailable: (context: Context, message: string): Response =>
    apiError(context, 503, { code: "full", message, remedy: "Try again soon." }),
  internal: (context: Context): Response =>
    apiError(context, 500, {
      code: "internal",
      message: "Something went wrong in the gateway; its log says what.",
    }),
};
