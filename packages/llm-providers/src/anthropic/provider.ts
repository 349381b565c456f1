import type { Message } from "@signalbox/agent-core";
import { defineProvider, type ModelRequest } from "../provider/define-provider.ts";
import type { Lesson, Refusal } from "../provider/lessons.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, sendThroughSdk } from "../provider/sdk.ts";
import { createThinkTags } from "../shared/think-tags.ts";
import { anthropicQuirks } from "./quirks.ts";
import { AnthropicReader, readError } from "./reader.ts";
import { requestParams } from "./request.ts";

const PUBLIC_URL = "https://api.anthropic.com";

const load = () =>
  loadSdk("@anthropic-ai/sdk", () =>
    Promise.all([import("@anthropic-ai/sdk"), import("@anthropic-ai/sdk/lib/transform-json-schema")]),
  );

/** Anthropic's Messages API and compatible servers. The base URL does not include `/v1`. */
export const anthropicMessages: Provider = defineProvider({
  api: "anthropic-messages",
  vendor: "Anthropic",
  requires: ["@anthropic-ai/sdk"],
  requestIdHeaders: ["request-id"],
  load,
  async send(request) {
    const [{ Anthropic }, { transformJSONSchema }] = await load();
    const { apiKey, baseUrl, headers } = request.config;
    // The SDK sends the key as a bearer token. Other servers with this API often support only `x-api-key`.
    const keyHeaders =
      apiKey === undefined ? { authorization: null } : baseUrl === undefined ? {} : { "x-api-key": apiKey };
    return sendThroughSdk(request, (fetch) => {
      const client = new Anthropic({
        apiKey: apiKey ?? null,
        authToken: null,
        baseURL: (baseUrl ?? PUBLIC_URL).replace(/\/+$/, ""),
        openTelemetry: false,
        maxRetries: 0,
        fetch,
        defaultHeaders: { ...keyHeaders, ...headers },
      });
      const body = requestParams(request, transformJSONSchema);
      // `messages.create` would print warnings about deprecated models to the console.
      return client.post("/v1/messages", { body, stream: true, signal: request.signal });
    });
  },
  readError,
  createReader(turn, { model, config, options }, learnQuirks) {
    // Anthropic itself always sends thinking in separate blocks.
    if (config.baseUrl === undefined) return new AnthropicReader(turn);
    const { startsThinking } = anthropicQuirks(model);
    return new AnthropicReader(turn, createThinkTags(startsThinking, options, learnQuirks));
  },
  learn,
  mend: withoutThinking,
});

/** Learns from refusals that concern thinking. */
function learn({ failure: { message } }: Refusal): Lesson | undefined {
  // Servers such as DeepSeek's require the thinking of earlier turns, although it has no signature.
  if (/\bthinking\b.*must be passed back|missing .*\bthinking\b/i.test(message))
    return { model: { quirks: { unsignedThinking: true } } };
  if (/output_config|output_format|json_schema/.test(message))
    return { model: { quirks: { jsonSchema: false } } };
  if (/thinking\.type\.enabled.*not supported.*adaptive/i.test(message))
    return { model: { quirks: { thinking: "adaptive" } } };
  return undefined;
}

/**
 * Newer models reject thinking blocks if the host has shortened or edited the history around them. Drops the thinking,
 * which is better than losing the conversation.
 */
function withoutThinking({ failure }: Refusal, request: ModelRequest): ModelRequest | undefined {
  const { status, message } = failure;
  if (status !== 400 || !/\bthinking\b[\s\S]*\bblocks?\b|`thinking`|signature/i.test(message))
    return undefined;
  const { context, options, warn } = request;
  if (!context.messages.some(hasThinking)) return undefined;
  warn("history_thinking", "The vendor refused the thinking in the history, so it was left out.");
  const messages = context.messages.map((message) =>
    hasThinking(message)
      ? { ...message, content: message.content.filter(({ type }) => type !== "thinking") }
      : message,
  );
  return { ...request, context: { ...context, messages }, options: { ...options, thinking: "off" } };
}

function hasThinking(message: Message): message is Extract<Message, { role: "assistant" }> {
  return message.role === "assistant" && message.content.some((block) => block.type === "thinking");
}
