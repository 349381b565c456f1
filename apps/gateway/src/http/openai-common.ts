import type { Context } from "hono";
import type { z } from "zod";
import { type GatewayService, ONCE, type Outcome, type Submission } from "../service/service.ts";

/** Agents as models. */
export const PREFIX = "signalbox/";

/** An error in OpenAI's format (their API reference, "Error codes"). */
export function openAiError(
  context: Context,
  status: 400 | 401 | 404 | 413 | 415 | 429 | 500 | 502 | 503,
  error: { message: string; type: string; code?: string; param?: string },
): Response {
  return context.json({ error: { param: null, code: null, ...error } }, status);
}

/** Error replies the surrounding server makes for this surface. */
export const openAiErrors = {
  unauthorized: (context: Context): Response =>
    openAiError(context, 401, {
      message: "The token is missing or wrong. Send the gateway's token as `Authorization: Bearer …`.",
      type: "invalid_request_error",
      code: "invalid_api_key",
    }),
  throttled: (context: Context): Response =>
    openAiError(context, 429, {
      message: "Too many wrong tokens. Wait a minute.",
      type: "requests",
      code: "rate_limit_exceeded",
    }),
  tooLarge: (context: Context): Response =>
    openAiError(context, 413, {
      message: "The body is over 1 MB. Send less.",
      type: "invalid_request_error",
      code: "request_too_large",
    }),
  notFound: (context: Context): Response =>
    openAiError(context, 404, {
      message: `There is no ${context.req.method} ${context.req.path}.`,
      type: "invalid_request_error",
      code: "not_found",
    }),
  wrongHost: (context: Context): Response =>
    openAiError(context, 400, {
      message: "The Host or Origin header does not name this gateway.",
      type: "invalid_request_error",
      code: "wrong_host",
    }),
  notJson: (context: Context): Response =>
    openAiError(context, 415, {
      message: "Send the body as application/json.",
      type: "invalid_request_error",
      code: "unsupported_media_type",
    }),
  internal: (context: Context): Response =>
    openAiError(context, 500, {
      message: "Something went wrong in the gateway; its log says what.",
      type: "server_error",
    }),
};

/** The body as the schema has it, or the answer that says what is wrong with it. */
export async function readBody<S extends z.ZodType>(
  context: Context,
  schema: S,
): Promise<{ readonly request: z.output<S> } | { readonly answer: Response }> {
  let body: unknown;
  try {
    body = JSON.parse(await context.req.text());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = `The body is not valid JSON: ${error.message}`;
    return { answer: openAiError(context, 400, { message, type: "invalid_request_error" }) };
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return { request: parsed.data };
  const [issue] = parsed.error.issues;
  const param = issue?.path.join(".") ?? "";
  const message = `${param}: ${issue?.message ?? "wrong"}`;
  return { answer: openAiError(context, 400, { message, type: "invalid_request_error", param }) };
}

/** The agent that a model names, with or without its prefix. */
export function agentOf(service: GatewayService, model: string): { readonly id: string } | undefined {
  return service.agents().find((one) => PREFIX + one.id === model || one.id === model);
}

export function noModel(context: Context, id: string, service: GatewayService): Response {
  const known = service.agents().map((one) => PREFIX + one.id);
  return openAiError(context, 404, {
    message: `The model \`${id}\` does not exist. There are: ${known.join(", ")}.`,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}

/** The client is gone. One that keeps no conversation here can never read the reply later, so nobody pays for it. */
export function leave(service: GatewayService, { agent, conversation }: Submission): void {
  if (conversation.startsWith(ONCE)) service.abort("api", agent, conversation);
}

/** A message that was submitted, with its answer as it grows. */
export interface Following {
  /** The next piece of text, or how it ended; `undefined` once the client has left. */
  next(): Promise<string | Outcome | undefined>;
  /** The client has left. */
  left(): void;
  /** Nobody looks any more. */
  end(): void;
}

/** Submits a message and follows its run; text says why it was refused. */
export async function follow(service: GatewayService, submission: Submission): Promise<Following | string> {
  const sessionKey = service.sessionKey("api", submission.agent, submission.conversation);
  const queue: string[] = [];
  let wake: (() => void) | undefined;
  let mine: string | undefined;
  let gone = false;
  let outcome: Outcome | undefined;
  const unsubscribe = service.live.subscribe(sessionKey, (event) => {
    if (event.type === "run.start" && event.messageIds.includes(submission.id)) mine = event.runId;
    if (event.type === "text.delta" && event.runId === mine) {
      queue.push(event.delta);
      wake?.();
    }
  });
  const submitted = await service.submit(submission).catch((error: unknown) => {
    unsubscribe();
    throw error;
  });
  if (submitted.kind === "refused") {
    unsubscribe();
    return submitted.message;
  }
  void submitted.done.then((value) => {
    outcome = value;
    wake?.();
  });
  return {
    async next() {
      for (;;) {
        const delta = queue.splice(0).join("");
        if (delta !== "") return delta;
        if (outcome !== undefined || gone) return outcome;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    left() {
      gone = true;
      leave(service, submission);
      wake?.();
    },
    end: unsubscribe,
  };
}

export function refused(context: Context, message: string): Response {
  context.header("retry-after", "1");
  return openAiError(context, 503, { message, type: "server_error", code: "unavailable" });
}

export function failed(context: Context, outcome: Outcome): Response {
  return openAiError(context, 502, failure(outcome));
}

export function failure(outcome: Outcome): { message: string; type: string; code: string } {
  if (outcome.state === "aborted")
    return { message: "The turn was stopped.", type: "server_error", code: "aborted" };
  return {
    message: outcome.error?.message ?? "The agent could not answer.",
    type: "server_error",
    code: outcome.error?.code ?? "agent_failed",
  };
}
