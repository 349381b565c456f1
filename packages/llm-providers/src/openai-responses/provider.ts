import { openaiProvider, PUBLIC_URL } from "../openai/openai-provider.ts";
import { dialectOf } from "../openai-chat/quirks.ts";
import type { Provider } from "../provider/provider.ts";
import { ThinkTags } from "../shared/think-tags.ts";
import { responsesQuirks } from "./quirks.ts";
import { ResponsesReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/** OpenAI's Responses API. The vendor stores nothing (`store: false`). The history contains the encrypted reasoning. */
export const openaiResponses: Provider = openaiProvider({
  api: "openai-responses",
  create: ({ responses }, request) => responses.create(requestParams(request), { signal: request.signal }),
  createReader(turn, { model, config }, learn) {
    // OpenAI separates the reasoning of its models itself.
    if (dialectOf(config.baseUrl ?? PUBLIC_URL) === "openai") return new ResponsesReader(turn);
    const { startsThinking } = responsesQuirks(model);
    const tags = new ThinkTags(startsThinking, (starts) => learn({ startsThinking: starts }));
    return new ResponsesReader(turn, tags);
  },
});
