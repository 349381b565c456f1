import { openaiProvider } from "../openai/openai-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { ResponsesReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/** OpenAI's Responses API. The vendor stores nothing (`store: false`). The history contains the encrypted reasoning. */
export const openaiResponses: Provider = openaiProvider({
  api: "openai-responses",
  create: ({ responses }, request) => responses.create(requestParams(request), { signal: request.signal }),
  createReader: (turn) => new ResponsesReader(turn),
});
