import { openaiClient } from "../openai/client.ts";
import { readError } from "../openai/failure.ts";
import { defineProvider } from "../provider/define-provider.ts";
import type { Provider } from "../provider/provider.ts";
import { ResponsesReader } from "./reader.ts";
import { buildRequest } from "./request.ts";

/**
 * OpenAI's Responses endpoint, through the `openai` SDK. Nothing is stored at the vendor (`store: false`); reasoning
 * travels encrypted in the history.
 */
export const openaiResponses: Provider = defineProvider({
  api: "openai-responses",
  vendor: "OpenAI",
  requires: ["openai"],
  requestIdHeaders: ["x-request-id"],
  client: openaiClient,
  buildRequest,
  send: (client, params, _request, signal) => client.responses.create(params, { signal }).asResponse(),
  readError,
  createReader: (turn) => new ResponsesReader(turn),
});
