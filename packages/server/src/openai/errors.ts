import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorReplies, errorReplies } from "../error-replies.ts";
import type { Outcome } from "../service.ts";

/** An error in OpenAI's format (their API reference, "Error codes"). */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly code?: string;
  readonly param?: string;
}

export function openAiError(context: Context, status: ContentfulStatusCode, error: OpenAiError): Response {
  return context.json({ error: { param: null, code: null, ...error } }, status);
}

/** Replies with 400 and names the parameter that is invalid or not supported. */
export function badRequest(context: Context, message: string, param: string): Response {
  return openAiError(context, 400, { message, type: "invalid_request_error", param });
}

/** Error replies that this surface shares with the others, in OpenAI's format. */
export const openAiErrors: ErrorReplies = errorReplies((context, { status, message, remedy, openAi }) =>
  openAiError(context, status, {
    message: remedy === undefined ? message : `${message} ${remedy}`,
    ...openAi,
  }),
);

/** Replies that the gateway did not accept the message. */
export function replyRefused(
  context: Context,
  refusal: { readonly code: string; readonly message: string },
): Response {
  const { code, message } = refusal;
  if (code === "id_taken") {
    return openAiError(context, 422, {
      message,
      type: "invalid_request_error",
      code: "idempotency_key_reused",
    });
  }
  context.header("retry-after", "1");
  return openAiError(context, 503, { message, type: "server_error", code: "unavailable" });
}

/** Replies that a run ended without an answer. The status shows clients whether to retry. */
export function replyFailed(context: Context, outcome: Outcome): Response {
  const { status, retryable, ...error } = describeFailure(outcome);
  const delayMs = outcome.error?.retryAfterMs;
  if (retryable && delayMs !== undefined) context.header("retry-after", String(Math.ceil(delayMs / 1000)));
  // OpenAI's own clients obey this header. A retry would execute tool calls a second time.
  if (!retryable) context.header("x-should-retry", "false");
  return openAiError(context, status, error);
}

/** Returns true if a run ended without an answer. */
export function isFailure({ state }: Outcome): boolean {
  return state === "failed" || state === "aborted" || state === "ignored";
}

export interface RunFailure extends OpenAiError {
  readonly code: string;
  readonly status: ContentfulStatusCode;
  readonly retryable: boolean;
}

export function describeFailure({ state, error }: Outcome): RunFailure {
  const stopped = state === "aborted" || state === "ignored";
  const code = error?.code ?? (stopped ? "aborted" : "agent_failed");
  const message = error?.message ?? (stopped ? "The run was stopped." : "The agent could not answer.");
  const { what, remedy, ...kind } = FAILURES[code] ?? OTHER;
  const parts = [what === undefined ? message : `${what}: ${message}`, remedy ?? ""];
  return { code, ...kind, message: parts.map(endSentence).filter(Boolean).join(" ") };
}

function endSentence(text: string): string {
  return text === "" || /[.!?…。！？)）]$/.test(text) ? text : `${text}.`;
}

type Kind = Omit<RunFailure, "message" | "code"> & {
  readonly code?: string;
  /** Description of the failure, before the message of the model provider. */
  readonly what?: string;
  /** Advice for the user of the client. */
  readonly remedy?: string;
};

const invalid = { status: 400, type: "invalid_request_error", retryable: false } as const;
const server = { type: "server_error", retryable: true } as const;
const account = { status: 403, type: "permission_error", retryable: false } as const;
const TRY_AGAIN = "Try again in a while.";

/** Maps the gateway's error codes to OpenAI's statuses, types and codes. */
const FAILURES: Readonly<Record<string, Kind>> = {
  overflow: {
    ...invalid,
    code: "context_length_exceeded",
    param: "messages",
    what: "The conversation is too long for the model",
    remedy: "Send fewer or shorter messages.",
  },
  invalid: { ...invalid, what: "The model provider refused the request" },
  filter: { ...invalid, code: "content_filter", what: "The model provider filtered the request" },
  poison: invalid,
  aborted: invalid,
  stopped: { ...invalid, code: "aborted" },
  rate_limit: {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    retryable: true,
    what: "The model provider limits the gateway's requests",
    remedy: TRY_AGAIN,
  },
  budget: {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    retryable: false,
    remedy: "Wait until the budget resets, or ask the operator to raise it under `budgets`.",
  },
  queue_full: { status: 429, type: "requests", retryable: true },
  // Not 401: the vendor rejected the gateway's credentials, and the client's own token is valid.
  auth: {
    ...account,
    what: "The model provider rejected the gateway's API key (your own token is valid)",
    remedy: "The operator of the gateway has to check `apiKey` under `models.providers`.",
  },
  billing: {
    ...account,
    what: "The model provider rejected the gateway's account because of its credit or quota",
    remedy: "The operator of the gateway has to check the account at the provider.",
  },
  token_revoked: { status: 401, type: "authentication_error", code: "invalid_api_key", retryable: false },
  no_agent: { ...invalid, status: 404, code: "model_not_found", param: "model" },
  no_model: { ...invalid, status: 404, code: "model_not_found", param: "model" },
  overloaded: { ...server, status: 503, what: "The model provider is overloaded", remedy: TRY_AGAIN },
  network: { ...server, status: 502, what: "The model provider cannot be reached", remedy: TRY_AGAIN },
  timeout: { ...server, status: 504, what: "The model provider did not answer in time", remedy: TRY_AGAIN },
  protocol: {
    ...server,
    status: 502,
    retryable: false,
    what: "The model provider returned something that is not a complete answer",
  },
  stopping: { ...server, status: 503 },
  internal: { ...server, status: 500, retryable: false },
};

const OTHER: Kind = { ...server, status: 502, retryable: false };
