import type { ErrorCode } from "@signalbox/protocol";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** What is wrong with a request, in the words of both surfaces. */
export interface Problem {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  /** What the client can do about it. */
  readonly remedy?: string;
  /** For clients of `/api`. */
  readonly code: ErrorCode;
  /** For clients of `/v1`, by OpenAI's API reference. */
  readonly openAi: { readonly type: string; readonly code?: string };
}

/** The replies that the server makes for every surface, each in its own format. */
export interface ErrorReplies {
  unauthorized(context: Context): Response;
  forbidden(context: Context): Response;
  throttled(context: Context): Response;
  tooLarge(context: Context, mostBytes: number): Response;
  wrongHost(context: Context): Response;
  notJson(context: Context): Response;
  notFound(context: Context): Response;
  internal(context: Context): Response;
}

/** @param reply puts a problem into the format of a surface */
export function errorReplies(reply: (context: Context, problem: Problem) => Response): ErrorReplies {
  return {
    unauthorized: (context) => reply(context, UNAUTHORIZED),
    forbidden: (context) => reply(context, FORBIDDEN),
    throttled: (context) => reply(context, THROTTLED),
    tooLarge: (context, mostBytes) => reply(context, tooLarge(mostBytes)),
    wrongHost: (context) => reply(context, WRONG_HOST),
    notJson: (context) => reply(context, NOT_JSON),
    notFound: (context) => reply(context, notFound(context)),
    internal: (context) => reply(context, INTERNAL),
  };
}

const INVALID = "invalid_request_error";

const UNAUTHORIZED: Problem = {
  status: 401,
  message: "The token is missing or wrong.",
  remedy:
    "Send the gateway's token (gateway.auth.token, or the file `token` in the gateway's home) or one made with `signalbox tokens add` as `Authorization: Bearer …`, or sign in with it.",
  code: "unauthorized",
  openAi: { type: INVALID, code: "invalid_api_key" },
};

const FORBIDDEN: Problem = {
  status: 403,
  message: "Only owners can do this.",
  remedy: "Use the gateway's own token, or a token with the role owner.",
  code: "forbidden",
  openAi: { type: "permission_error" },
};

const THROTTLED: Problem = {
  status: 429,
  message: "Too many wrong tokens.",
  remedy: "Wait a minute and try again.",
  code: "throttled",
  openAi: { type: "requests", code: "rate_limit_exceeded" },
};

const WRONG_HOST: Problem = {
  status: 403,
  message: "The request is for another host, or comes from a page of another site.",
  remedy: "Use the address the gateway listens on, or add the name to gateway.allowedHosts.",
  code: "forbidden",
  openAi: { type: INVALID, code: "wrong_host" },
};

const NOT_JSON: Problem = {
  status: 415,
  message: "The content type must be JSON.",
  remedy: "Send the body as application/json.",
  code: "bad_request",
  openAi: { type: INVALID, code: "unsupported_media_type" },
};

const INTERNAL: Problem = {
  status: 500,
  message: "Something went wrong in the gateway. Its log has the details.",
  code: "internal",
  openAi: { type: "server_error" },
};

function tooLarge(mostBytes: number): Problem {
  return {
    status: 413,
    message: `The body is larger than ${mostBytes / 1_000_000} MB.`,
    remedy: "Send less.",
    code: "too_large",
    openAi: { type: INVALID, code: "request_too_large" },
  };
}

function notFound({ req }: Context): Problem {
  return {
    status: 404,
    message: `There is no ${req.method} ${req.path}.`,
    code: "not_found",
    openAi: { type: INVALID, code: "not_found" },
  };
}
