import type { Model, ModelContext, StreamModel, StreamOptions } from "@signalbox/agent-core";
import { adapt, lossWarnings } from "../adapt/index.ts";
import { wireTools } from "../adapt/names.ts";
import { ChatReader } from "../chat/reader.ts";
import { roughTokens } from "../chat/usage.ts";
import { openaiClient } from "../openai/client.ts";
import { openaiFailure } from "../openai/failure.ts";
import type { Provider, ProviderConfig } from "../provider.ts";
import { requireKey } from "../shared/key.ts";
import { sseTurn } from "../shared/sse-turn.ts";
import type { Warn } from "../shared/thinking.ts";
import { FailureError } from "../stream/errors.ts";
import { modelTurn, type TurnSource } from "../stream/turn.ts";
import { chatQuirks } from "./quirks.ts";
import { buildRequest } from "./request.ts";

export { type ChatQuirks, chatDialects, dialectOf, type ThinkingStyle } from "./quirks.ts";

const PUBLIC_URL = "https://api.openai.com/v1";

/**
 * The chat completions dialect, through the `openai` SDK: OpenAI itself, and the many servers that speak it. What
 * they do differently is data, see `ChatQuirks`: the base URL names the dialect, or `quirks.dialect` of the model, and
 * every single quirk can be set in `quirks`.
 */
export const openaiChat: Provider = {
  api: "openai-chat",
  connect(config: ProviderConfig): StreamModel {
    const client = openaiClient(config, PUBLIC_URL);
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
          const quirks = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
          const params = buildRequest(model, { ...context, messages, tools }, options, quirks, warn);
          const { chat } = await client();
          try {
            const response = await chat.completions.create(params, { signal: turn.signal }).asResponse();
            turn.start(response.headers.get("x-request-id"));
            const inputTokens = (): number => roughTokens(JSON.stringify([params.messages, params.tools]));
            const reader = new ChatReader(turn, { model, thinkTags: quirks.thinkTags, inputTokens });
            const json = response.headers.get("content-type")?.startsWith("application/json") === true;
            return json ? wholeAnswer(response, reader) : sseTurn(turn, response, reader);
          } catch (error) {
            throw new FailureError(openaiFailure(error, now()));
          }
        },
      );
    };
  },
};

/** An answer in one piece, from a server that does not stream, or one that reports a failure with status 200. */
function wholeAnswer(response: Response, reader: ChatReader): TurnSource {
  return {
    async pull() {
      reader.data(await response.text());
      reader.wireEnded();
      return false;
    },
    close(finished) {
      if (!finished) response.body?.cancel().catch(() => {});
    },
  };
}
