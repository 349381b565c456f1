import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorReplies, errorReplies } from "../error-replies.ts";
import type { Outcome } from "../service.ts";

/** What goes wrong, in OpenAI's format (their API reference, "Error codes"). */
export interface OpenAiProblem {
  readonly message: string;
  readonly type: string;
  readonly code?: string;
  readonly param?: string;
}

export function openAiError(
  context: Context,
  status: ContentfulStatusCode,
  problem: OpenAiProblem,
): Response {
  return context.json({ error: { param: null, code: null, ...problem } }, status);
}

/** 400, naming the parameter that is wrong or not served. */
export function badRequest(context: Context, message: string, param: string): Response {
  return openAiError(context, 400, { message, type: "invalid_request_error", param });
}

/** Error replies that the server around this surface makes for it. */
export const openAiErrors: ErrorReplies = errorReplies((context, { status, message, remedy, openAi }) =>
  openAiError(context, status, {
    message: remedy === undefined ? message : `${message} ${remedy}`,
    ...openAi,
  }),
);

/** The message was not taken. */
export function refused(
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

/** A turn that ended without an answer, with the status by which a client knows whether to try again. */
export function failed(context: Context, outcome: Outcome): Response {
  const { status, triesAgain, ...problem } = failureOf(outcome);
  const wait = outcome.error?.retryAfterMs;
  if (triesAgain && wait !== undefined) context.header("retry-after", String(Math.ceil(wait / 1000)));
  // OpenAI's own clients heed it: a turn whose tools have run is not to be made a second time.
  if (!triesAgain) context.header("x-should-retry", "false");
  return openAiError(context, status, problem);
}

/** Whether a turn ended without an answer. */
export function isFailure({ state }: Outcome): boolean {
  return state === "failed" || state === "aborted" || state === "ignored";
}

export interface TurnFailure extends OpenAiProblem {
  readonly code: string;
  readonly status: ContentfulStatusCode;
  readonly triesAgain: boolean;
}

export function failureOf({ state, error }: Outcome): TurnFailure {
  const stopped = state === "aborted" || state === "ignored";
  const code = error?.code ?? (stopped ? "aborted" : "agent_failed");
  const message = error?.message ?? (stopped ? "The turn was stopped." : "The agent could not answer.");
  const kind = FAILURES[code] ?? OTHER;
  return { code, ...kind, message };
}

type Kind = Omit<TurnFailure, "message" | "code"> & { readonly code?: string };

const invalid = { status: 400, type: "invalid_request_error", triesAgain: false } as const;
const server = { type: "server_error", triesAgain: true } as const;

/** What clients are told about each end of a turn, by the gateway's code. */
const FAILURES: Readonly<Record<string, Kind>> = {
  overflow: { ...invalid, code: "context_length_exceeded", param: "messages" },
  invalid,
  filter: { ...invalid, code: "content_filter" },
  poison: invalid,
  aborted: invalid,
  stopped: { ...invalid, code: "aborted" },
  rate_limit: { status: 429, type: "requests", code: "rate_limit_exceeded", triesAgain: true },
  queue_full: { status: 429, type: "requests", triesAgain: true },
  // The gateway's account at the vendor is what is refused: the client's own token is good, and no retry helps.
  auth: { status: 403, type: "permission_error", triesAgain: false },
  billing: { status: 403, type: "permission_error", triesAgain: false },
  token_revoked: { status: 401, type: "authentication_error", code: "invalid_api_key", triesAgain: false },
  no_agent: { ...invalid, status: 404, code: "model_not_found", param: "model" },
  no_model: { ...invalid, status: 404, code: "model_not_found", param: "model" },
  overloaded: { ...server, status: 503 },
  network: { ...server, status: 502 },
  timeout: { ...server, status: 504 },
  stopping: { ...server, status: 503 },
  internal: { ...server, status: 500, triesAgain: false },
};

const OTHER: Kind = { ...server, status: 502, triesAgain: false };
