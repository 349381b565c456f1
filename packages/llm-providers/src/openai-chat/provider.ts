import { openaiProvider, PUBLIC_URL } from "../openai/openai-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { chatQuirks } from "./quirks.ts";
import { ChatReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/**
 * OpenAI's Chat Completions API and the many servers that speak it. The base URL, or `quirks.dialect` of the model,
 * selects the dialect.
 */
export const openaiChat: Provider = openaiProvider({
  api: "openai-chat",
  create: ({ chat }, request) => chat.completions.create(requestParams(request), { signal: request.signal }),
  createReader: (turn, { model, config }) =>
    new ChatReader(turn, chatQuirks(model, config.baseUrl ?? PUBLIC_URL).thinkTags),
});
