import type { Context } from "hono";
import { z } from "zod";
import type { ScopedService } from "../scope.ts";
import type { Outcome, Submission, TurnUsage } from "../service.ts";
import { readBody } from "./body.ts";
import { badRequest, failed, failureOf, isFailure, refused } from "./errors.ts";
import { answer, follow, passOn } from "./follow.ts";
import { agentOf, noModel } from "./models.ts";
import { RequestProblem, submissionOf } from "./request.ts";
import { itemId, readItems, responsesInput } from "./response-items.ts";
import type { Attempt, Retries } from "./retries.ts";
import { format, refuseUnserved, samplingFields, samplingOf } from "./sampling.ts";
import { streamEvents } from "./stream-events.ts";

const MOST_METADATA = 16;
const metadata = z.custom<Readonly<Record<string, string>>>(
  (value) => {
    const texts =
      value !== null && typeof value === "object" && !Array.isArray(value) && Object.values(value);
    return texts && texts.length <= MOST_METADATA && texts.every((text) => typeof text === "string");
  },
  { error: `expected at most ${MOST_METADATA} texts by name` },
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

/**
 * `POST /v1/responses` (OpenAI's API reference, "Responses"): the same turn as a chat completion, in its newer shape.
 */
export function responsesRoute(
  service: ScopedService,
  retries: Retries,
  now: () => number,
): (context: Context) => Promise<Response> {
  return async (context) => {
    const read = await readBody(context, responsesRequest);
    if ("answer" in read) return read.answer;
    const { request, raw } = read;
    const agent = agentOf(service, request.model);
    if (agent === undefined) return noModel(context, request.model, service);
    const attempt = retries.attempt(context, "resp_", raw);
    if (attempt === undefined)
      return badRequest(context, "The Idempotency-Key is not valid.", "Idempotency-Key");
    const submission = submissionOf(await toClientRequest(request, agent.id, service), attempt.id);
    const turn: ResponseTurn = { submission, attempt, head: headOf(request, submission, now()) };
    return request.stream === true ? streamed(context, service, turn) : whole(context, service, turn);
  };
}

interface ResponseTurn {
  readonly submission: Submission;
  readonly attempt: Attempt;
  /** The response as it is before there is an answer. */
  readonly head: object;
}

/** @throws RequestProblem */
async function toClientRequest(request: ResponsesRequest, agent: string, service: ScopedService) {
  refuseUnserved({ ...request, verbosity: request.text?.verbosity ?? request.verbosity });
  refuseKeeping(request);
  return {
    agent,
    user: request.user ?? undefined,
    instructions: [request.instructions ?? ""],
    messages: await readItems(request.input, service),
    param: "input",
    sampling: samplingOf({
      ...request,
      maxOutputTokens: request.max_output_tokens,
      format: request.text?.format,
    }),
  };
}

function refuseKeeping(request: ResponsesRequest): void {
  const why =
    "Responses are not stored: set `user`, so that the gateway keeps the conversation, or send the whole conversation.";
  if (request.previous_response_id) throw new RequestProblem(why, "previous_response_id");
  if (request.conversation !== undefined && request.conversation !== null)
    throw new RequestProblem(why, "conversation");
  if (request.background === true)
    throw new RequestProblem("Background requests are not supported.", "background");
}

async function whole(context: Context, service: ScopedService, turn: ResponseTurn): Promise<Response> {
  const { submission, attempt, head } = turn;
  const outcome = await answer(service, attempt, submission, context.req.raw.signal);
  if ("kind" in outcome) return refused(context, outcome);
  if (isFailure(outcome)) return failed(context, outcome);
  return context.json(endOf(head, itemId(submission.id), outcome));
}

async function streamed(context: Context, service: ScopedService, turn: ResponseTurn): Promise<Response> {
  const { submission, attempt, head } = turn;
  const following = await follow(service, attempt, submission);
  if ("kind" in following) return refused(context, following);
  const id = itemId(submission.id);
  const place = { item_id: id, output_index: 0, content_index: 0 };
  return streamEvents(context, async (stream) => {
    let number = 0;
    let text = "";
    const send = (type: string, data: object): Promise<void> =>
      stream.writeSSE({ event: type, data: JSON.stringify({ type, sequence_number: number++, ...data }) });
    stream.onAbort(following.left);
    try {
      await send("response.created", { response: head });
      await send("response.in_progress", { response: head });
      const item = { ...messageOf(id, ""), status: "in_progress", content: [] };
      await send("response.output_item.added", { output_index: 0, item });
      await send("response.content_part.added", { ...place, part: partOf("") });
      const outcome = await passOn(following, (delta) => {
        text += delta;
        return send("response.output_text.delta", { ...place, delta, logprobs: [] });
      });
      if (outcome === undefined) return;
      if (isFailure(outcome)) {
        const response = { ...head, status: "failed", error: errorOf(outcome) };
        return await send("response.failed", { response });
      }
      await send("response.output_text.done", { ...place, text, logprobs: [] });
      await send("response.content_part.done", { ...place, part: partOf(text) });
      await send("response.output_item.done", { output_index: 0, item: messageOf(id, text) });
      const type = incompleteReason(outcome) === undefined ? "response.completed" : "response.incomplete";
      await send(type, { response: endOf(head, id, { ...outcome, text }) });
    } finally {
      following.end();
    }
  });
}

/** Everything the vendor's schema asks for, as it is before there is an answer. */
function headOf(request: ResponsesRequest, { id }: Submission, now: number): object {
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
    ...(request.user ? { user: request.user } : {}),
  };
}

function endOf(head: object, id: string, outcome: Outcome): object {
  const reason = incompleteReason(outcome);
  return {
    ...head,
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: [messageOf(id, outcome.text)],
    usage: usageOf(outcome.usage),
  };
}

/** Returns why the answer is incomplete, in the words of the vendor's schema, or `undefined` if it is complete. */
function incompleteReason({ finishReason }: Outcome): "max_output_tokens" | "content_filter" | undefined {
  if (finishReason === "length") return "max_output_tokens";
  return finishReason === "content_filter" ? finishReason : undefined;
}

/** In the few codes that the vendor's schema has. */
function errorOf(outcome: Outcome): object {
  const { code, status, message } = failureOf(outcome);
  const listed = status === 429 ? "rate_limit_exceeded" : status === 400 ? "invalid_prompt" : "server_error";
  return { code: listed, message: `${message} (${code})` };
}

function messageOf(id: string, text: string): object {
  return { id, type: "message", status: "completed", role: "assistant", content: [partOf(text)] };
}

function partOf(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function usageOf(usage: TurnUsage | undefined): object {
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
