import type { ErrorCode } from "@signalbox/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { errorReplies } from "../error-replies.ts";

function apiError(
  context: Context,
  status: ContentfulStatusCode,
  error: { code: ErrorCode; message: string; remedy?: string },
): Response {
  return context.json({ error }, status);
}

/** Error replies of `/api`, of webhooks and of everything that is not the OpenAI surface. */
export const apiErrors = {
  ...errorReplies((context, { status, code, message, remedy }) =>
    apiError(context, status, { code, message, ...(remedy === undefined ? {} : { remedy }) }),
  ),
  wrongHookSecret: (context: Context): Response =>
    apiError(context, 401, {
      code: "unauthorized",
      message: "The secret is missing or wrong.",
      remedy:
        "Send the hook's secret as `Authorization: Bearer …`, or an owner's token if the hook has none.",
    }),
  badJson: (context: Context, remedy: string): Response =>
    apiError(context, 400, {
      code: "bad_request",
      message: "The body is not valid here.",
      remedy,
    }),
  badQuery: (context: Context, remedy: string): Response =>
    apiError(context, 400, {
      code: "bad_request",
      message: "The address is not valid here.",
      remedy,
    }),
  /** The address is right, and what it names is not there. */
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
      remedy: "Send a smaller one, or a link to it.",
    }),
  notBytes: (context: Context): Response =>
    apiError(context, 415, {
      code: "bad_request",
      message: "The content type is wrong for the bytes of a file.",
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
      message: `There is no running account ${account} of channel ${channel} that accepts webhooks.`,
      remedy: `Check channels.${channel}.accounts in the configuration.`,
    }),
  unavailable: (context: Context, message: string): Response =>
    apiError(context, 503, { code: "full", message }),
};
