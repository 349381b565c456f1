import type { JsonObject } from "@signalbox/agent-core";
import { openaiProvider, PUBLIC_URL } from "../openai/openai-provider.ts";
import type { ModelRequest } from "../provider/define-provider.ts";
import type { Lesson, Refusal } from "../provider/lessons.ts";
import type { Provider } from "../provider/provider.ts";
import { chatQuirks } from "./quirks.ts";
import { ChatReader } from "./reader.ts";
import { requestParams } from "./request.ts";
import { TextCalls } from "./text-calls.ts";
import { ThinkTags } from "./think-tags.ts";

/**
 * OpenAI's Chat Completions API and the many servers that speak it. The base URL, or `quirks.dialect` of the model,
 * selects the dialect.
 */
export const openaiChat: Provider = openaiProvider({
  api: "openai-chat",
  create: ({ chat }, request) => chat.completions.create(requestParams(request), { signal: request.signal }),
  learn,
  createReader(turn, { model, config, context }, learnQuirks) {
    const { thinkTags, startsThinking, textCalls } = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
    const onUnopened = (): void => learnQuirks({ startsThinking: true });
    return new ChatReader(
      turn,
      thinkTags ? new ThinkTags(startsThinking, onUnopened) : undefined,
      textCalls && context.tools.length > 0
        ? new TextCalls(context.tools.map(({ name }) => name))
        : undefined,
    );
  },
});

/** Reads refusals that concern what servers of this dialect do differently. */
function learn({ failure: { message }, param }: Refusal, request: ModelRequest): Lesson | undefined {
  const quirks = learnReasoning(message, request) ?? learnNames(message, param);
  return quirks && { model: { quirks } };
}

/** Recognizes a server that requires the reasoning of earlier turns: it names the field as missing. */
function learnReasoning(message: string, { model, config }: ModelRequest): JsonObject | undefined {
  if (!/\breasoning\b|\breasoning_/.test(message)) return undefined;
  if (!/missing|must be passed|must (?:include|contain|have)|required|passed back/i.test(message))
    return undefined;
  const { reasoningPlaceholder } = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
  return {
    reasoningField: /reasoning_details/.test(message) ? "reasoning_details" : "reasoning_content",
    reasoningScope: "all",
    reasoningPlaceholder: reasoningPlaceholder === "never" ? "calls" : "always",
  };
}

function learnNames(message: string, param: string | undefined): JsonObject | undefined {
  if (/max_tokens\b.*\bmax_completion_tokens/.test(message) && /unsupported|not supported/i.test(message))
    return { maxTokensField: "max_completion_tokens" };
  const isRole = /\brole\b/.test(`${param} ${message}`);
  return isRole && /['"`]?developer['"`]?/.test(message) ? { systemRole: "system" } : undefined;
}
