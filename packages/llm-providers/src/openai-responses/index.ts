import type { Model, ModelContext, StreamModel, StreamOptions } from "@signalbox/agent-core";
import { adapt, lossWarnings } from "../adapt/index.ts";
import { wireTools } from "../adapt/names.ts";
import { openaiClient } from "../openai/client.ts";
import { openaiFailure } from "../openai/failure.ts";
import type { Provider, ProviderConfig } from "../provider.ts";
import { requireKey } from "../shared/key.ts";
import { sseTurn } from "../shared/sse-turn.ts";
import type { Warn } from "../shared/thinking.ts";
import { FailureError } from "../stream/errors.ts";
import { modelTurn } from "../stream/turn.ts";
import { ResponsesReader } from "./reader.ts";
import { buildRequest } from "./request.ts";

/**
 * OpenAI's Responses endpoint, through the `openai` SDK. Nothing is stored at the vendor (`store: false`); reasoning
 * travels encrypted in the history.
 *
 * Quirks a model may declare: `temperature` (whether it is taken), `longCache`, `reasoningSummary` (false where they
 * are refused) and `efforts` (the vendor's word for a level, for instance `{ "max": "max" }`).
 */
export const openaiResponses: Provider = {
  api: "openai-responses",
  connect(config: ProviderConfig): StreamModel {
    const client = openaiClient(config, "https://api.openai.com/v1");
    const now = config.now ?? Date.now;
    return (model: Model, context: ModelContext, options: StreamOptions = {}) => {
      const { tools, names } = wireTools(model.api, context.tools);
      return modelTurn(
        { model, options, timeouts: config.timeouts, now: config.now, names },
        async (turn) => {
          requireKey(config, "OpenAI");
          const warn: Warn = (code, message) => turn.warn(code, message);
          const { messages, losses } = adapt(context.messages, model);
          for (const { code, message } of lossWarnings(losses)) warn(code, message);
          const params = buildRequest(model, { ...context, messages, tools }, options, warn);
          const { responses } = await client();
          try {
            const response = await responses.create(params, { signal: turn.signal }).asResponse();
            turn.start(response.headers.get("x-request-id"));
            return sseTurn(turn, response, new ResponsesReader(turn, model));
          } catch (error) {
            throw new FailureError(openaiFailure(error, now()));
          }
        },
      );
    };
  },
};
