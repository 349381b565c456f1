import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import {
  type GatewayService,
  ONCE,
  type Outcome,
  type RunUsage,
  type Submission,
} from "../service/service.ts";
import {
  agentOf,
  failed,
  failure,
  follow,
  leave,
  noModel,
  openAiError,
  readBody,
  refused,
} from "./openai-common.ts";

const part = z.union([
  z.object({ type: z.enum(["input_text", "output_text", "text"]), text: z.string() }),
  z.object({ type: z.string() }),
]);
/** Items of a conversation; those that are no message are told from it by their type. */
const item = z.object({
  type: z.string().optional(),
  role: z.enum(["system", "developer", "user", "assistant"]).optional(),
  content: z.union([z.string(), z.array(part)]).optional(),
});
const responsesRequest = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(item).min(1)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  user: z.string().min(1).max(200).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  tools: z.array(z.unknown()).nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  background: z.boolean().nullish(),
  text: z.object({ format: z.object({ type: z.string() }).nullish() }).nullish(),
});
type ResponsesRequest = z.output<typeof responsesRequest>;

/** `POST /v1/responses` (OpenAI's API reference, "Responses"): the same turn as a chat completion, in its newer shape. */
export function responsesRoute(service: GatewayService): (context: Context) => Promise<Response> {
  return async (context) => {
    const read = await readBody(context, responsesRequest);
    if ("answer" in read) return read.answer;
    const { request } = read;
    const agent = agentOf(service, request.model);
    if (!agent) return noModel(context, request.model, service);
    const submission = toSubmission(request, agent.id);
    if ("problem" in submission)
      return openAiError(context, 400, { ...submission.problem, type: "invalid_request_error" });
    return request.stream === true
      ? streamed(context, service, submission, request)
      : whole(context, service, submission, request);
  };
}

interface Problem {
  readonly problem: { readonly message: string; readonly param: string };
}

/** With `user` the gateway keeps the conversation and takes the last message; without, the client's items count. */
function toSubmission(request: ResponsesRequest, agent: string): Submission | Problem {
  const unserved = whatIsNotServed(request);
  if (unserved) return unserved;
  const items =
    typeof request.input === "string" ? [{ role: "user" as const, content: request.input }] : request.input;
  const texts: { readonly role: "system" | "developer" | "user" | "assistant"; readonly text: string }[] = [];
  for (const [index, one] of items.entries()) {
    // What the agent's own turns held besides text means nothing to the next one.
    if ("type" in one && one.type !== undefined && one.type !== "message") {
      if (one.type === "reasoning") continue;
      return no(`Only messages are taken, not ${one.type}.`, `input[${index}]`);
    }
    const text = textOf(one.content);
    if (one.role === undefined || text === undefined)
      return no("Only text is taken in messages.", `input[${index}].content`);
    texts.push({ role: one.role, text });
  }
  const last = texts.at(-1);
  if (last?.role !== "user" || last.text.trim() === "")
    return no("The last item must be a user message with text.", "input");
  const instructions = [
    request.instructions ?? "",
    ...texts.flatMap(({ role, text }) => (role === "system" || role === "developer" ? [text] : [])),
  ].filter((text) => text !== "");
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

function whatIsNotServed(request: ResponsesRequest): Problem | undefined {
  const kept = "Responses are not kept: name a `user` whose conversation is, or send all of it.";
  if ((request.tools?.length ?? 0) > 0)
    return no("Agents use their own tools; tools of the client are not taken.", "tools");
  if (request.previous_response_id) return no(kept, "previous_response_id");
  if (request.conversation !== undefined && request.conversation !== null) return no(kept, "conversation");
  if (request.background === true) return no("Only waiting requests are served.", "background");
  const format = request.text?.format?.type ?? "text";
  return format === "text" ? undefined : no("Only text is served.", "text.format");
}

function no(message: string, param: string): Problem {
  return { problem: { message, param } };
}

function textOf(content: z.output<typeof item>["content"]): string | undefined {
  if (content === undefined || typeof content === "string") return content;
  const texts = content.map((one) => ("text" in one ? one.text : undefined));
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

async function whole(
  context: Context,
  service: GatewayService,
  submission: Submission,
  request: ResponsesRequest,
): Promise<Response> {
  const submitted = await service.submit(submission);
  if (submitted.kind === "refused") return refused(context, submitted.message);
  context.req.raw.signal.addEventListener("abort", () => leave(service, submission));
  const outcome = await submitted.done;
  if (outcome.state === "failed" || outcome.state === "aborted") return failed(context, outcome);
  return context.json(endOf(headOf(request, submission), messageId(submission), outcome));
}

async function streamed(
  context: Context,
  service: GatewayService,
  submission: Submission,
  request: ResponsesRequest,
): Promise<Response> {
  const following = await follow(service, submission);
  if (typeof following === "string") return refused(context, following);
  const head = headOf(request, submission);
  const id = messageId(submission);
  const place = { item_id: id, output_index: 0, content_index: 0 };
  return streamSSE(context, async (stream) => {
    let number = 0;
    let sent = "";
    const send = (type: string, data: object): Promise<void> =>
      stream.writeSSE({ event: type, data: JSON.stringify({ type, sequence_number: number++, ...data }) });
    const delta = async (text: string): Promise<void> => {
      sent += text;
      await send("response.output_text.delta", { ...place, delta: text, logprobs: [] });
    };
    stream.onAbort(following.left);
    try {
      await send("response.created", { response: head });
      await send("response.in_progress", { response: head });
      await send("response.output_item.added", {
        output_index: 0,
        item: { ...messageOf(id, ""), status: "in_progress", content: [] },
      });
      await send("response.content_part.added", { ...place, part: partOf("") });
      let outcome: Outcome;
      for (;;) {
        const next = await following.next();
        if (next === undefined) return;
        if (typeof next !== "string") {
          outcome = next;
          break;
        }
        await delta(next);
      }
      if (outcome.state === "failed" || outcome.state === "aborted") {
        const { code, message } = failure(outcome);
        const error = { code: "server_error", message: `${message} (${code})` };
        await send("response.failed", { response: { ...head, status: "failed", error } });
        return;
      }
      // What was not streamed (a reply found in the inbox, a mark that the text was cut) follows in one piece.
      if (outcome.text.startsWith(sent) && outcome.text.length > sent.length)
        await delta(outcome.text.slice(sent.length));
      const said = { ...outcome, text: sent };
      await send("response.output_text.done", { ...place, text: sent, logprobs: [] });
      await send("response.content_part.done", { ...place, part: partOf(sent) });
      await send("response.output_item.done", { output_index: 0, item: messageOf(id, sent) });
      const type = outcome.truncated === true ? "response.incomplete" : "response.completed";
      await send(type, { response: endOf(head, id, said) });
    } finally {
      following.end();
    }
  });
}

function messageId(submission: Submission): string {
  return `msg_${submission.id}`;
}

/** Everything the vendor's schema asks for, as it is before there is an answer. */
function headOf(request: ResponsesRequest, submission: Submission): object {
  return {
    id: `resp_${submission.id}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    metadata: request.metadata ?? {},
    model: request.model,
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
    ...(request.user ? { user: request.user } : {}),
  };
}

function endOf(head: object, id: string, outcome: Outcome): object {
  const cut = outcome.truncated === true;
  return {
    ...head,
    status: cut ? "incomplete" : "completed",
    incomplete_details: cut ? { reason: "max_output_tokens" } : null,
    output: [messageOf(id, outcome.text)],
    usage: usageOf(outcome.usage),
  };
}

function messageOf(id: string, text: string): object {
  return { id, type: "message", status: "completed", role: "assistant", content: [partOf(text)] };
}

function partOf(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function usageOf(usage: RunUsage | undefined): object {
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
