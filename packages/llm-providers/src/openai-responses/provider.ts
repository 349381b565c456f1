import { openaiRequest } from "../openai/client.ts";
import { readError } from "../openai/failure.ts";
import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { ResponsesReader } from "./reader.ts";
import { requestParams } from "./request.ts";

/**
 * OpenAI's Responses endpoint, through the `openai` SDK. Nothing is stored at the vendor (`store: false`); reasoning
 * travels encrypted in the history.
 */
export const openaiResponses: Provider = defineProvider({
  api: "openai-responses",
  vendor: "OpenAI",
  requires: ["openai"],
  requestIdHeaders: ["x-request-id"],
  client: (config) =>
    openaiRequest(config, ({ responses }) => responses.create({ model: "", input: [], stream: true })),
  buildRequest: (request, client) => ({ ...client, body: JSON.stringify(requestParams(request)) }),
  readError,
  createReader: (turn) => new ResponsesReader(turn),
});
