import type { Context } from "hono";
import { z } from "zod";
import type { ScopedService } from "../scope.ts";
import type { Submission, TurnUsage } from "../service.ts";
import { MOST_MESSAGES, readBody } from "./body.ts";
import { content, readContent } from "./content.ts";
import { badRequest, failed, failureOf, isFailure, refused } from "./errors.ts";
import { answer, follow, passOn } from "./follow.ts";
import { list } from "./list.ts";
import { agentOf, noModel } from "./models.ts";
import { type ClientMessage, RequestProblem, submissionOf } from "./request.ts";
import type { Attempt, Retries } from "./retries.ts";
import { format, refuseUnserved, samplingFields, samplingOf } from "./sampling.ts";
import { streamEvents } from "./stream-events.ts";

const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content,
  refusal: z.string().nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
});
const responseFormat = z.preprocess(flattened, format);
const chatRequest = z.object({
  ...samplingFields,
  model: z.string(),
  messages: list(message, { min: 1, max: MOST_MESSAGES }),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().min(1).max(200).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  stop: z.union([z.string(), list(z.string(), { max: 4 })]).nullish(),
  response_format: responseFormat.nullish(),
});
type ChatRequest = z.output<typeof chatRequest>;

/** `POST /v1/chat/completions` (OpenAI's API reference, "Chat Completions"): one turn of an agent. */
export function chatCompletionsRoute(
  service: ScopedService,
  retries: Retries,
  now: () => number,
): (context: Context) => Promise<Response> {
  return async (context) => {
    const read = await readBody(context, chatRequest);
    if ("answer" in read) return read.answer;
    const { request, raw } = read;
    const agent = agentOf(service, request.model);
    if (agent === undefined) return noModel(context, request.model, service);
    const attempt = retries.attempt(context, "chatcmpl-", raw);
    if (attempt === undefined)
      return badRequest(context, "The Idempotency-Key is not valid.", "Idempotency-Key");
    const submission = submissionOf(toClientRequest(request, agent.id), attempt.id);
    const turn: ChatTurn = { request, submission, attempt, created: Math.floor(now() / 1000) };
    return request.stream === true ? streamed(context, service, turn) : whole(context, service, turn);
  };
}

interface ChatTurn {
  readonly request: ChatRequest;
  readonly submission: Submission;
  readonly attempt: Attempt;
  /** Seconds since the epoch. */
  readonly created: number;
}

/** @throws RequestProblem */
function toClientRequest(request: ChatRequest, agent: string) {
  refuseUnserved(request);
  return {
    agent,
    user: request.user ?? undefined,
    instructions: [],
    messages: request.messages.map(readMessage),
    param: "messages",
    sampling: samplingOf({
      ...request,
      maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
      format: request.response_format,
    }),
  };
}

function readMessage(
  { role, content, refusal, tool_calls: calls }: ChatRequest["messages"][number],
  index: number,
): ClientMessage {
  const param = `messages[${index}]`;
  if (role === "tool" || role === "function" || (calls?.length ?? 0) > 0)
    throw new RequestProblem("Agents use their own tools; client tool calls are not supported.", param);
  const { text, attachments } = readContent(content, `${param}.content`);
  if (role === "system" || role === "developer") return { role: "system", text, attachments, param };
  return { role, text: text === "" ? (refusal ?? "") : text, attachments, param };
}

/** The API nests what the newer one has flat: `{ type, json_schema: { name, schema } }`. */
function flattened(value: unknown): unknown {
  if (value === null || typeof value !== "object" || !("json_schema" in value)) return value;
  const { json_schema: schema, ...rest } = value;
  return schema !== null && typeof schema === "object" ? { ...schema, ...rest } : value;
}

async function whole(context: Context, service: ScopedService, turn: ChatTurn): Promise<Response> {
  const { request, submission, attempt, created } = turn;
  const outcome = await answer(service, attempt, submission, context.req.raw.signal);
  if ("kind" in outcome) return refused(context, outcome);
  if (isFailure(outcome)) return failed(context, outcome);
  const message = { role: "assistant", content: outcome.text, refusal: null };
  return context.json({
    id: submission.id,
    object: "chat.completion",
    created,
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: outcome.finishReason ?? "stop" }],
    usage: usageOf(outcome.usage),
  });
}

async function streamed(context: Context, service: ScopedService, turn: ChatTurn): Promise<Response> {
  const { request, submission, attempt, created } = turn;
  const following = await follow(service, attempt, submission);
  if ("kind" in following) return refused(context, following);
  const withUsage = request.stream_options?.include_usage === true;
  const head = { id: submission.id, object: "chat.completion.chunk", created, model: request.model };
  const chunk = (delta: object, finish: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(withUsage ? { usage: null } : {}),
  });
  return streamEvents(context, async (stream) => {
    const send = (data: object): Promise<void> => stream.writeSSE({ data: JSON.stringify(data) });
    stream.onAbort(following.left);
    try {
      await send(chunk({ role: "assistant", content: "" }));
      const outcome = await passOn(following, (text) => send(chunk({ content: text })));
      if (outcome === undefined) return;
      if (isFailure(outcome)) {
        const { message, type, code, param = null } = failureOf(outcome);
        await send({ error: { message, type, code, param } });
      } else await send(chunk({}, outcome.finishReason ?? "stop"));
      if (withUsage && !isFailure(outcome))
        await send({ ...head, choices: [], usage: usageOf(outcome.usage) });
      await stream.writeSSE({ data: "[DONE]" });
    } finally {
      following.end();
    }
  });
}

function usageOf(usage: TurnUsage | undefined): object {
  const prompt = usage?.inputTokens ?? 0;
  const completion = usage?.outputTokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cachedTokens ?? 0 },
  };
}
