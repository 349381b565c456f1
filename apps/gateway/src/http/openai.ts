import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
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
  openAiErrors,
  PREFIX,
  readBody,
  refused,
} from "./openai-common.ts";
import { responsesRoute } from "./responses.ts";

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

/** `/v1/models`, `/v1/chat/completions` and `/v1/responses`: an agent is the model, `user` names the peer. */
export function openAiRoutes(service: GatewayService): Hono {
  const app = new Hono();

  app.get("/models", (context) => context.json({ object: "list", data: service.agents().map(modelOf) }));

  app.get("/models/:id{.+}", (context) => {
    const id = context.req.param("id");
    const agent = service.agents().find((one) => PREFIX + one.id === id);
    return agent ? context.json(modelOf(agent)) : noModel(context, id, service);
  });

  app.post("/chat/completions", async (context) => {
    const read = await readBody(context, chatRequest);
    if ("answer" in read) return read.answer;
    const { request } = read;
    const agent = agentOf(service, request.model);
    if (!agent) return noModel(context, request.model, service);
    const submission = toSubmission(request, agent.id);
    if ("problem" in submission) {
      return openAiError(context, 400, { ...submission.problem, type: "invalid_request_error" });
    }
    return request.stream === true
      ? streamed(context, service, submission, request)
      : whole(context, service, submission, request);
  });

  app.post("/responses", responsesRoute(service));

  app.all("*", openAiErrors.notFound);
  return app;
}

function modelOf(agent: { id: string }): { id: string; object: "model"; created: number; owned_by: string } {
  return { id: PREFIX + agent.id, object: "model", created: 0, owned_by: "signalbox" };
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
  const following = await follow(service, submission);
  if (typeof following === "string") return refused(context, following);
  let sent = "";
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
    stream.onAbort(following.left);
    try {
      await send(chunk({ role: "assistant", content: "" }));
      for (;;) {
        const next = await following.next();
        if (next === undefined) return;
        if (typeof next === "string") {
          sent += next;
          await send(chunk({ content: next }));
          continue;
        }
        await finishStream(next, sent, send, chunk);
        if (withUsage && next.state !== "failed") {
          await send(JSON.stringify({ ...head, choices: [], usage: usageOf(next.usage) }));
        }
        break;
      }
      await send("[DONE]");
    } finally {
      following.end();
    }
  });
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
