import { openaiProvider } from "../openai/openai-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { ResponsesReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/**
 * OpenAI's Responses endpoint, through the `openai` SDK. Nothing is stored at the vendor (`store: false`); reasoning
 * travels encrypted in the history.
 */
export const openaiResponses: Provider = openaiProvider({
  api: "openai-responses",
  ask: ({ responses }) => responses.create({ model: "", input: [], stream: true }),
  params: requestParams,
  createReader: (turn) => new ResponsesReader(turn),
});
