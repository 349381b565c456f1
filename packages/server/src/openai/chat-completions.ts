import type { Context } from "hono";
import { z } from "zod";
import { streamEvents } from "../event-stream.ts";
import type { ScopedService } from "../scope.ts";
import type { Submission, TurnUsage } from "../service.ts";
import { content, readContent } from "./content.ts";
import { badRequest, describeFailure, isFailure, replyFailed, replyRefused } from "./errors.ts";
import { list } from "./fail-fast-list.ts";
import { followRun, forwardText, waitForOutcome } from "./follow-run.ts";
import { findAgent, replyUnknownModel } from "./models.ts";
import { MAX_MESSAGES, readBody } from "./read-body.ts";
import type { Attempt, Retries } from "./retries.ts";
import { format, getSampling, refuseUnsupported, samplingFields } from "./sampling.ts";
import { type ClientMessage, createSubmission, InvalidRequestError } from "./submission.ts";

const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content,
  refusal: z.string().nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
});
const responseFormat = z.preprocess(flattenFormat, format);
const chatRequest = z.object({
  ...samplingFields,
  model: z.string(),
  messages: list(message, { min: 1, max: MAX_MESSAGES }),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().min(1).max(200).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  stop: z.union([z.string(), list(z.string(), { max: 4 })]).nullish(),
  response_format: responseFormat.nullish(),
});
type ChatRequest = z.output<typeof chatRequest>;

/** `POST /v1/chat/completions` (OpenAI's API reference, "Chat Completions"): one run of an agent. */
export function chatCompletionsRoute(
  service: ScopedService,
  retries: Retries,
  now: () => number,
): (context: Context) => Promise<Response> {
  return async (context) => {
    const read = await readBody(context, chatRequest);
    if ("answer" in read) return read.answer;
    const { request, raw } = read;
    const agent = findAgent(service, request.model);
    if (agent === undefined) return replyUnknownModel(context, request.model, service);
    const attempt = retries.attempt(context, "chatcmpl-", raw);
    if (attempt === undefined)
      return badRequest(context, "The Idempotency-Key is not valid.", "Idempotency-Key");
    const submission = createSubmission(toClientRequest(request, agent.id), attempt.id);
    const chat: ChatRun = { request, submission, attempt, created: Math.floor(now() / 1000) };
    return request.stream === true
      ? replyWithStream(context, service, chat)
      : replyWithJson(context, service, chat);
  };
}

interface ChatRun {
  readonly request: ChatRequest;
  readonly submission: Submission;
  readonly attempt: Attempt;
  /** Seconds since the epoch. */
  readonly created: number;
}

/** @throws {InvalidRequestError} */
function toClientRequest(request: ChatRequest, agent: string) {
  refuseUnsupported(request);
  return {
    agent,
    user: request.user ?? undefined,
    instructions: [],
    messages: request.messages.map(readMessage),
    param: "messages",
    sampling: getSampling({
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
    throw new InvalidRequestError("Agents use their own tools; client tool calls are not supported.", param);
  const { text, attachments } = readContent(content, `${param}.content`);
  if (role === "system" || role === "developer") return { role: "system", text, attachments, param };
  return { role, text: text === "" ? (refusal ?? "") : text, attachments, param };
}

/** Converts `{ type, json_schema: { name, schema } }` to the flat shape of the Responses API. */
function flattenFormat(value: unknown): unknown {
  if (value === null || typeof value !== "object" || !("json_schema" in value)) return value;
  const { json_schema: schema, ...rest } = value;
  return schema !== null && typeof schema === "object" ? { ...schema, ...rest } : value;
}

async function replyWithJson(context: Context, service: ScopedService, chat: ChatRun): Promise<Response> {
  const { request, submission, attempt, created } = chat;
  const outcome = await waitForOutcome(service, attempt, submission, context.req.raw.signal);
  if ("kind" in outcome) return replyRefused(context, outcome);
  if (isFailure(outcome)) return replyFailed(context, outcome);
  const message = { role: "assistant", content: outcome.text, refusal: null };
  return context.json({
    id: submission.id,
    object: "chat.completion",
    created,
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: outcome.finishReason ?? "stop" }],
    usage: formatUsage(outcome.usage),
  });
}

async function replyWithStream(context: Context, service: ScopedService, chat: ChatRun): Promise<Response> {
  const { request, submission, attempt, created } = chat;
  const run = await followRun(service, attempt, submission);
  if ("kind" in run) return replyRefused(context, run);
  const withUsage = request.stream_options?.include_usage === true;
  const head = { id: submission.id, object: "chat.completion.chunk", created, model: request.model };
  const chunk = (delta: object, finish: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: withUsage ? null : undefined,
  });
  return streamEvents(context, async (stream) => {
    const send = (data: object): Promise<void> => stream.writeSSE({ data: JSON.stringify(data) });
    stream.onAbort(run.abandon);
    try {
      await send(chunk({ role: "assistant", content: "" }));
      const outcome = await forwardText(run, (text) => send(chunk({ content: text })));
      if (outcome === undefined) return;
      if (isFailure(outcome)) {
        const { message, type, code, param = null } = describeFailure(outcome);
        await send({ error: { message, type, code, param } });
      } else await send(chunk({}, outcome.finishReason ?? "stop"));
      if (withUsage && !isFailure(outcome))
        await send({ ...head, choices: [], usage: formatUsage(outcome.usage) });
      await stream.writeSSE({ data: "[DONE]" });
    } finally {
      run.end();
    }
  });
}

function formatUsage(usage: TurnUsage | undefined): object {
  const prompt = usage?.inputTokens ?? 0;
  const completion = usage?.outputTokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cachedTokens ?? 0 },
  };
}
