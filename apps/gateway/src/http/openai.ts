import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { type GatewayService, ONCE, type Outcome, type RunUsage, type Submission } from "../service.ts";

const PREFIX = "signalbox/";

const part = z.union([
  z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() }),
  z.object({ type: z.string() }),
]);
const content = z.union([z.string(), z.array(part), z.null()]).optional();
const chatRequest = z.object({
  model: z.string(),
  messages: z
    .array(
      z.object({ role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]), content }),
    )
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().min(1).max(200).nullish(),
  n: z.number().nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
  audio: z.unknown().optional(),
});
type ChatRequest = z.output<typeof chatRequest>;

/** An error in OpenAI's format (their API reference, "Error codes"). */
function openAiError(
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

/** `/v1/models` and `/v1/chat/completions`: an agent is the model, `user` names the peer. */
export function openAiRoutes(service: GatewayService): Hono {
  const app = new Hono();

  app.get("/models", (context) => context.json({ object: "list", data: service.agents().map(modelOf) }));

  app.get("/models/:id{.+}", (context) => {
    const id = context.req.param("id");
    const agent = service.agents().find((one) => PREFIX + one.id === id);
    return agent ? context.json(modelOf(agent)) : noModel(context, id, service);
  });

  app.post("/chat/completions", async (context) => {
    let body: unknown;
    try {
      body = JSON.parse(await context.req.text());
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return openAiError(context, 400, {
        message: `The body is not valid JSON: ${error.message}`,
        type: "invalid_request_error",
      });
    }
    const parsed = chatRequest.safeParse(body);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const param = issue?.path.join(".") ?? "";
      return openAiError(context, 400, {
        message: `${param}: ${issue?.message ?? "wrong"}`,
        type: "invalid_request_error",
        param,
      });
    }
    const request = parsed.data;
    const agent = service
      .agents()
      .find((one) => PREFIX + one.id === request.model || one.id === request.model);
    if (!agent) return noModel(context, request.model, service);
    const submission = toSubmission(request, agent.id);
    if ("problem" in submission) {
      return openAiError(context, 400, { ...submission.problem, type: "invalid_request_error" });
    }
    return request.stream === true
      ? streamed(context, service, submission, request)
      : whole(context, service, submission, request);
  });

  app.all("*", openAiErrors.notFound);
  return app;
}

function modelOf(agent: { id: string }): { id: string; object: "model"; created: number; owned_by: string } {
  return { id: PREFIX + agent.id, object: "model", created: 0, owned_by: "signalbox" };
}

function noModel(context: Context, id: string, service: GatewayService): Response {
  const known = service.agents().map((one) => PREFIX + one.id);
  return openAiError(context, 404, {
    message: `The model \`${id}\` does not exist. There are: ${known.join(", ")}.`,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}

/** With `user` the gateway keeps the conversation and takes the last message; without, the client's history counts. */
function toSubmission(
  request: ChatRequest,
  agent: string,
): Submission | { problem: { message: string; param: string } } {
  if ((request.n ?? 1) !== 1) return { problem: { message: "Only n = 1 is served.", param: "n" } };
  for (const param of ["tools", "functions"] as const) {
    if ((request[param]?.length ?? 0) > 0) {
      return {
        problem: { message: "Agents use their own tools; tools of the client are not taken.", param },
      };
    }
  }
  if (request.audio !== undefined && request.audio !== null)
    return { problem: { message: "Audio is not served.", param: "audio" } };
  const texts: { role: ChatRequest["messages"][number]["role"]; text: string }[] = [];
  for (const [index, message] of request.messages.entries()) {
    const text = textOf(message.content);
    if (text === undefined) {
      return { problem: { message: "Only text is taken in messages.", param: `messages[${index}].content` } };
    }
    texts.push({ role: message.role, text });
  }
  const last = texts.at(-1);
  if (last?.role !== "user" || last.text.trim() === "") {
    return { problem: { message: "The last message must be a user message with text.", param: "messages" } };
  }
  const instructions = texts
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ text }) => text);
  const keeps = request.user !== undefined && request.user !== null;
  const history = texts
    .slice(0, -1)
    .flatMap(({ role, text }) => (role === "user" || role === "assistant" ? [{ role, text }] : []));
  return {
    channel: "api",
    agent,
    conversation: keeps ? `user:${request.user}` : `${ONCE}${randomUUID()}`,
    id: randomUUID(),
    text: last.text,
    ...(instructions.length > 0 ? { instructions: instructions.join("\n\n") } : {}),
    ...(keeps || history.length === 0 ? {} : { history }),
  };
}

function textOf(value: z.output<typeof content>): string | undefined {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  const texts = value.map((one) => ("text" in one ? one.text : undefined));
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

async function whole(
  context: Context,
  service: GatewayService,
  submission: Submission,
  request: ChatRequest,
): Promise<Response> {
  const submitted = await service.submit(submission);
  if (submitted.kind === "refused") return refused(context, submitted.message);
  context.req.raw.signal.addEventListener("abort", () => leave(service, submission));
  const outcome = await submitted.done;
  if (outcome.state === "failed" || outcome.state === "aborted") return failed(context, outcome);
  return context.json({
    id: `chatcmpl-${outcome.runId ?? submission.id}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: outcome.text, refusal: null },
        logprobs: null,
        finish_reason: finishReason(outcome),
      },
    ],
    usage: usageOf(outcome.usage),
  });
}

async function streamed(
  context: Context,
  service: GatewayService,
  submission: Submission,
  request: ChatRequest,
): Promise<Response> {
  const sessionKey = service.sessionKey("api", submission.agent, submission.conversation);
  const queue: string[] = [];
  let wake: (() => void) | undefined;
  let mine: string | undefined;
  let sent = "";
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
    return refused(context, submitted.message);
  }
  let outcome: Outcome | undefined;
  void submitted.done.then((value) => {
    outcome = value;
    wake?.();
  });

  const head = {
    id: `chatcmpl-${submission.id}`,
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  const withUsage = request.stream_options?.include_usage === true;
  const chunk = (delta: object, finish: string | null = null): string =>
    JSON.stringify({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(withUsage ? { usage: null } : {}),
    });

  return streamSSE(context, async (stream) => {
    const send = (data: string): Promise<void> => stream.writeSSE({ data });
    // A client that keeps no conversation here can never read the reply later.
    stream.onAbort(() => {
      if (submission.conversation.startsWith(ONCE))
        service.abort("api", submission.agent, submission.conversation);
      wake?.();
    });
    try {
      await send(chunk({ role: "assistant", content: "" }));
      while (outcome === undefined || queue.length > 0) {
        const delta = queue.splice(0).join("");
        if (delta !== "") {
          sent += delta;
          await send(chunk({ content: delta }));
        } else if (outcome === undefined) {
          if (stream.aborted) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      await finishStream(outcome, sent, send, chunk);
      if (withUsage && outcome.state !== "failed") {
        await send(JSON.stringify({ ...head, choices: [], usage: usageOf(outcome.usage) }));
      }
      await send("[DONE]");
    } finally {
      unsubscribe();
    }
  });
}

/** The client is gone. One that keeps no conversation here can never read the reply later, so nobody pays for it. */
function leave(service: GatewayService, { agent, conversation }: Submission): void {
  if (conversation.startsWith(ONCE)) service.abort("api", agent, conversation);
}

async function finishStream(
  outcome: Outcome,
  sent: string,
  send: (data: string) => Promise<void>,
  chunk: (delta: object, finish?: string | null) => string,
): Promise<void> {
  if (outcome.state === "failed" || outcome.state === "aborted") {
    await send(JSON.stringify({ error: { param: null, ...failure(outcome) } }));
    return;
  }
  // What was not streamed (a reply found in the inbox, a mark that the text was cut) follows in one piece.
  const rest = outcome.text.startsWith(sent) ? outcome.text.slice(sent.length) : "";
  if (rest !== "") await send(chunk({ content: rest }));
  await send(chunk({}, finishReason(outcome)));
}

function finishReason(outcome: Outcome): "stop" | "length" {
  return outcome.truncated === true ? "length" : "stop";
}

function usageOf(usage: RunUsage | undefined): object {
  const prompt = usage?.inputTokens ?? 0;
  const completion = usage?.outputTokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cachedTokens ?? 0 },
  };
}

function refused(context: Context, message: string): Response {
  context.header("retry-after", "1");
  return openAiError(context, 503, { message, type: "server_error", code: "unavailable" });
}

function failed(context: Context, outcome: Outcome): Response {
  return openAiError(context, 502, failure(outcome));
}

function failure(outcome: Outcome): { message: string; type: string; code: string } {
  if (outcome.state === "aborted")
    return { message: "The turn was stopped.", type: "server_error", code: "aborted" };
  return {
    message: outcome.error?.message ?? "The agent could not answer.",
    type: "server_error",
    code: outcome.error?.code ?? "agent_failed",
  };
}
