import type { Context } from "hono";
import { z } from "zod";
import { streamEvents } from "../event-stream.ts";
import type { ScopedService } from "../scope.ts";
import type { Outcome, Submission, TurnUsage } from "../service.ts";
import { badRequest, describeFailure, isFailure, replyFailed, replyRefused } from "./errors.ts";
import { followRun, forwardText, waitForOutcome } from "./follow-run.ts";
import { findAgent, replyUnknownModel } from "./models.ts";
import { readBody } from "./read-body.ts";
import { createItemId, readItems, responsesInput } from "./response-items.ts";
import type { Attempt, Retries } from "./retries.ts";
import { format, getSampling, refuseUnsupported, samplingFields } from "./sampling.ts";
import { createSubmission, InvalidRequestError } from "./submission.ts";

const MAX_METADATA = 16;
const metadata = z.custom<Readonly<Record<string, string>>>(
  (value) => {
    const texts =
      value !== null && typeof value === "object" && !Array.isArray(value) && Object.values(value);
    return texts && texts.length <= MAX_METADATA && texts.every((text) => typeof text === "string");
  },
  { error: `expected an object with at most ${MAX_METADATA} string values` },
);
const responsesRequest = z.object({
  ...samplingFields,
  model: z.string(),
  input: responsesInput,
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  user: z.string().min(1).max(200).nullish(),
  metadata: metadata.nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  background: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  text: z.object({ format: format.nullish(), verbosity: samplingFields.verbosity }).nullish(),
});
type ResponsesRequest = z.output<typeof responsesRequest>;

/** `POST /v1/responses` (OpenAI's API reference, "Responses"): one run of an agent, like a chat completion. */
export function responsesRoute(
  service: ScopedService,
  retries: Retries,
  now: () => number,
): (context: Context) => Promise<Response> {
  return async (context) => {
    const read = await readBody(context, responsesRequest);
    if ("answer" in read) return read.answer;
    const { request, raw } = read;
    const agent = findAgent(service, request.model);
    if (agent === undefined) return replyUnknownModel(context, request.model, service);
    const attempt = retries.attempt(context, "resp_", raw);
    if (attempt === undefined)
      return badRequest(context, "The Idempotency-Key is not valid.", "Idempotency-Key");
    const submission = createSubmission(await toClientRequest(request, agent.id, service), attempt.id);
    const run: ResponseRun = { submission, attempt, head: createHead(request, submission, now()) };
    return request.stream === true
      ? replyWithStream(context, service, run)
      : replyWithJson(context, service, run);
  };
}

interface ResponseRun {
  readonly submission: Submission;
  readonly attempt: Attempt;
  /** The response object before there is an answer. */
  readonly head: object;
}

/** @throws {InvalidRequestError} */
async function toClientRequest(request: ResponsesRequest, agent: string, service: ScopedService) {
  refuseUnsupported({ ...request, verbosity: request.text?.verbosity ?? request.verbosity });
  refuseStorage(request);
  return {
    agent,
    user: request.user ?? undefined,
    instructions: [request.instructions ?? ""],
    messages: await readItems(request.input, service),
    param: "input",
    sampling: getSampling({
      ...request,
      maxOutputTokens: request.max_output_tokens,
      format: request.text?.format,
    }),
  };
}

function refuseStorage(request: ResponsesRequest): void {
  const message =
    "Responses are not stored. Set `user` to let the gateway manage the conversation, or send the whole conversation.";
  if (request.previous_response_id) throw new InvalidRequestError(message, "previous_response_id");
  if (request.conversation !== undefined && request.conversation !== null)
    throw new InvalidRequestError(message, "conversation");
  if (request.background === true)
    throw new InvalidRequestError("Background requests are not supported.", "background");
}

async function replyWithJson(context: Context, service: ScopedService, run: ResponseRun): Promise<Response> {
  const { submission, attempt, head } = run;
  const outcome = await waitForOutcome(service, attempt, submission, context.req.raw.signal);
  if ("kind" in outcome) return replyRefused(context, outcome);
  if (isFailure(outcome)) return replyFailed(context, outcome);
  return context.json(createResponse(head, createItemId(submission.id), outcome));
}

async function replyWithStream(
  context: Context,
  service: ScopedService,
  { submission, attempt, head }: ResponseRun,
): Promise<Response> {
  const run = await followRun(service, attempt, submission);
  if ("kind" in run) return replyRefused(context, run);
  const id = createItemId(submission.id);
  const position = { item_id: id, output_index: 0, content_index: 0 };
  return streamEvents(context, async (stream) => {
    let number = 0;
    const send = (type: string, data: object): Promise<void> =>
      stream.writeSSE({ event: type, data: JSON.stringify({ type, sequence_number: number++, ...data }) });
    stream.onAbort(run.abandon);
    try {
      await send("response.created", { response: head });
      await send("response.in_progress", { response: head });
      const item = { ...createMessage(id, ""), status: "in_progress", content: [] };
      await send("response.output_item.added", { output_index: 0, item });
      await send("response.content_part.added", { ...position, part: createPart("") });
      const outcome = await forwardText(run, (delta) =>
        send("response.output_text.delta", { ...position, delta, logprobs: [] }),
      );
      if (outcome === undefined) return;
      if (isFailure(outcome)) {
        const response = { ...head, status: "failed", error: createError(outcome) };
        return await send("response.failed", { response });
      }
      // The text that was streamed may contain reasoning that was only recognized later.
      const { text } = outcome;
      await send("response.output_text.done", { ...position, text, logprobs: [] });
      await send("response.content_part.done", { ...position, part: createPart(text) });
      await send("response.output_item.done", { output_index: 0, item: createMessage(id, text) });
      const type = getIncompleteReason(outcome) === undefined ? "response.completed" : "response.incomplete";
      await send(type, { response: createResponse(head, id, outcome) });
    } finally {
      run.end();
    }
  });
}

/** Returns every field that OpenAI's schema requires, without an answer. */
function createHead(request: ResponsesRequest, { id }: Submission, now: number): object {
  return {
    id,
    object: "response",
    created_at: Math.floor(now / 1000),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    metadata: request.metadata ?? {},
    model: request.model,
    output: [],
    parallel_tool_calls: true,
    temperature: request.temperature ?? null,
    tool_choice: "auto",
    tools: [],
    top_p: request.top_p ?? null,
    user: request.user || undefined,
  };
}

function createResponse(head: object, id: string, outcome: Outcome): object {
  const reason = getIncompleteReason(outcome);
  return {
    ...head,
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: [createMessage(id, outcome.text)],
    usage: formatUsage(outcome.usage),
  };
}

/** Returns the reason in OpenAI's schema why an answer is incomplete, or undefined if it is complete. */
function getIncompleteReason({ finishReason }: Outcome): "max_output_tokens" | "content_filter" | undefined {
  if (finishReason === "length") return "max_output_tokens";
  return finishReason === "content_filter" ? finishReason : undefined;
}

/** Maps a failure to one of the few error codes in OpenAI's schema. */
function createError(outcome: Outcome): object {
  const { code, status, message } = describeFailure(outcome);
  const openAiCode =
    status === 429 ? "rate_limit_exceeded" : status === 400 ? "invalid_prompt" : "server_error";
  return { code: openAiCode, message: `${message} (${code})` };
}

function createMessage(id: string, text: string): object {
  return { id, type: "message", status: "completed", role: "assistant", content: [createPart(text)] };
}

function createPart(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function formatUsage(usage: TurnUsage | undefined): object {
  const input = usage?.inputTokens ?? 0;
  const output = usage?.outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage?.cachedTokens ?? 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
