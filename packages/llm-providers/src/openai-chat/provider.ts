import type { JsonObject, JsonOutput } from "@signalbox/agent-core";
import { openaiProvider, PUBLIC_URL } from "../openai/openai-provider.ts";
import type { ModelRequest } from "../provider/define-provider.ts";
import type { Lesson, Refusal } from "../provider/lessons.ts";
import type { Provider } from "../provider/provider.ts";
import { createThinkTags } from "../shared/think-tags.ts";
import { type ChatQuirks, chatQuirks } from "./quirks.ts";
import { ChatReader } from "./reader.ts";
import { requestParams } from "./request.ts";
import { TextCalls } from "./text-calls.ts";

/**
 * OpenAI's Chat Completions API and the many compatible servers. The base URL, or `quirks.dialect` of the model,
 * selects the dialect.
 */
export const openaiChat: Provider = openaiProvider({
  api: "openai-chat",
  create: ({ chat }, request) => chat.completions.create(requestParams(request), { signal: request.signal }),
  learn,
  createReader(turn, { model, config, context, options }, learnQuirks) {
    const { thinkTags, startsThinking, textCalls } = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
    const names = new Set(context.tools.map(({ name }) => name));
    return new ChatReader(
      turn,
      thinkTags ? createThinkTags(startsThinking, options, learnQuirks) : undefined,
      textCalls && names.size > 0 ? new TextCalls(names) : undefined,
      names.size > 0 ? (name) => names.has(name) : undefined,
    );
  },
});

/** Learns from refusals that reveal differences between the server and this dialect. */
function learn({ failure: { message }, param }: Refusal, request: ModelRequest): Lesson | undefined {
  const { model, config, options } = request;
  const known = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
  const text = `${param ?? ""} ${message}`;
  const quirks =
    learnReasoning(message, known) ??
    (options.json && learnJson(text, options.json, known)) ??
    learnStreaming(text, known) ??
    learnRoles(text) ??
    learnNames(message, param);
  return quirks && { model: { quirks } };
}

/**
 * Recognizes from the field name that a server requires or rejects the reasoning of earlier turns. Refusals of
 * `reasoning_effort` concern another field.
 */
function learnReasoning(message: string, known: ChatQuirks): JsonObject | undefined {
  const { reasoningField, reasoningPlaceholder } = known;
  if (!/\breasoning(?:_content|_details|_text)?\b/.test(message)) return undefined;
  if (/cannot be disabled|mandatory|must be enabled/i.test(message)) return { thinkingAlwaysOn: true };
  if (
    /not (?:supported|allowed|permitted|accepted)|unsupported|unexpected|unknown|must not|extra/i.test(
      message,
    )
  )
    return reasoningField === "none" ? undefined : { reasoningField: "none" };
  if (
    !/missing|must|required|passed back|expect|lack|absent|omitted|empty|should|provide|缺|必须|需要/i.test(
      message,
    )
  )
    return undefined;
  return {
    reasoningField: /reasoning_details/.test(message) ? "reasoning_details" : "reasoning_content",
    reasoningScope: "all",
    reasoningPlaceholder: reasoningPlaceholder === "never" ? "calls" : "always",
  };
}

/** Recognizes a server that has no option for JSON, or only one for schemas. The prompt then asks for JSON. */
function learnJson(text: string, json: JsonOutput, known: ChatQuirks): JsonObject | undefined {
  if (!/response_format|json_object|json_schema|json[ _]mode|structured output/i.test(text)) return undefined;
  const hasSchema = known.jsonSchema && (json.schema !== undefined || !known.jsonObject);
  return hasSchema ? { jsonSchema: false } : { jsonObject: false };
}

/** Recognizes a server that does not offer streaming of this model to this account. */
function learnStreaming(text: string, { body }: ChatQuirks): JsonObject | undefined {
  const isRefused =
    /\bstream(?:ing)?\b/i.test(text) &&
    /must be verified|not (?:support|available|allowed|enabled)|unsupported|disabled|non-?stream/i.test(text);
  return isRefused ? { streamOptions: false, body: { ...body, stream: false } } : undefined;
}

/** Recognizes a chat template without a system role, or one in which user and model must alternate. */
function learnRoles(text: string): JsonObject | undefined {
  const isRefused =
    /system (?:role|message|prompt)s?\b[^.;\n]{0,20}\bnot (?:supported|allowed)|roles? must alternate|must alternate between/i;
  return isRefused.test(text) ? { alternateRoles: true } : undefined;
}

function learnNames(message: string, param: string | undefined): JsonObject | undefined {
  if (/max_tokens\b.*\bmax_completion_tokens/.test(message) && /unsupported|not supported/i.test(message))
    return { maxTokensField: "max_completion_tokens" };
  const isRole = /\brole\b/.test(`${param} ${message}`);
  return isRole && /['"`]?developer['"`]?/.test(message) ? { systemRole: "system" } : undefined;
}
