import type { Message } from "@signalbox/agent-core";
import type { Failure } from "../failure/failure.ts";
import { defineProvider, type ModelRequest } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { loadSdk, NO_KEY, requestOf } from "../provider/sdk.ts";
import { AnthropicReader, readError } from "./reader.ts";
import { requestBody } from "./request.ts";

const PUBLIC_URL = "https://api.anthropic.com";

/** Anthropic's Messages API, and servers that speak it, through its SDK. The base URL goes without `/v1`. */
export const anthropicMessages: Provider = defineProvider({
  api: "anthropic-messages",
  vendor: "Anthropic",
  requires: ["@anthropic-ai/sdk"],
  requestIdHeaders: ["request-id"],
  async client({ apiKey, baseUrl, headers }) {
    const [sdk, { transformJSONSchema }] = await loadSdk("@anthropic-ai/sdk", () =>
      Promise.all([import("@anthropic-ai/sdk"), import("@anthropic-ai/sdk/lib/transform-json-schema")]),
    );
    // The SDK sends the key as a bearer token; other servers that speak this API often know `x-api-key` only.
    const keyHeader = apiKey !== undefined && baseUrl !== undefined ? { "x-api-key": apiKey } : {};
    const { url, headers: sent } = await requestOf((fetch) => {
      const account = new sdk.Anthropic({
        apiKey: apiKey ?? NO_KEY,
        authToken: null,
        baseURL: (baseUrl ?? PUBLIC_URL).replace(/\/+$/, ""),
        openTelemetry: false,
        fetch,
        defaultHeaders: { ...keyHeader, ...headers },
      });
      // Not by `messages.create`, which prints warnings of its own about models.
      return account.post("/v1/messages", { body: {}, stream: true });
    });
    return { url, headers: sent, transformJSONSchema };
  },
  buildRequest: (request, { url, headers, ...sdk }) => ({ url, headers, body: requestBody(request, sdk) }),
  readError,
  createReader: (turn) => new AnthropicReader(turn),
  mend: withoutThinking,
});

/**
 * Thinking belongs to the conversation it was thought in: where a host has shortened or edited the history, newer
 * models refuse what is left of it. Losing the thinking is better than losing the conversation.
 */
function withoutThinking({ status, message }: Failure, request: ModelRequest): ModelRequest | undefined {
  if (status !== 400 || !/\bthinking\b[\s\S]*\bblocks?\b|`thinking`|signature/i.test(message))
    return undefined;
  const { context, options, warn } = request;
  if (!context.messages.some(hasThinking)) return undefined;
  warn("history.thinking", "The vendor refused the thinking in the history: it was asked again without.");
  const messages = context.messages.map((given) =>
    hasThinking(given)
      ? { ...given, content: given.content.filter(({ type }) => type !== "thinking") }
      : given,
  );
  return { ...request, context: { ...context, messages }, options: { ...options, thinking: "off" } };
}

function hasThinking(message: Message): message is Extract<Message, { role: "assistant" }> {
  return message.role === "assistant" && message.content.some((block) => block.type === "thinking");
}
