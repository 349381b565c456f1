import { openaiRequest, PUBLIC_URL } from "../openai/client.ts";
import { readError } from "../openai/failure.ts";
import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { chatQuirks } from "./quirks.ts";
import { ChatReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/**
 * The chat completions dialect, through the `openai` SDK: OpenAI itself, and the many servers that speak it. The base
 * URL names the dialect, or `quirks.dialect` of the model.
 */
export const openaiChat: Provider = defineProvider({
  api: "openai-chat",
  vendor: "OpenAI",
  requires: ["openai"],
  requestIdHeaders: ["x-request-id"],
  client: (config) =>
    openaiRequest(config, ({ chat }) => chat.completions.create({ model: "", messages: [], stream: true })),
  buildRequest: (request, client) => ({ ...client, body: JSON.stringify(requestParams(request)) }),
  readError,
  createReader: (turn, { model, config }) =>
    new ChatReader(turn, chatQuirks(model, config.baseUrl ?? PUBLIC_URL).thinkTags),
});
