import { openaiProvider, PUBLIC_URL } from "../openai/openai-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { chatQuirks } from "./quirks.ts";
import { ChatReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/**
 * The chat completions dialect, through the `openai` SDK: OpenAI itself, and the many servers that speak it. The base
 * URL names the dialect, or `quirks.dialect` of the model.
 */
export const openaiChat: Provider = openaiProvider({
  api: "openai-chat",
  ask: ({ chat }) => chat.completions.create({ model: "", messages: [], stream: true }),
  params: requestParams,
  createReader: (turn, { model, config }) =>
    new ChatReader(turn, chatQuirks(model, config.baseUrl ?? PUBLIC_URL).thinkTags),
});
