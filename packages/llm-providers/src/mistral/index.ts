import type { Model, ModelContext, StreamModel, StreamOptions } from "@signalbox/agent-core";
import { adapt, lossWarnings } from "../adapt/index.ts";
import { wireTools } from "../adapt/names.ts";
import { ChatReader } from "../chat/reader.ts";
import { roughTokens } from "../chat/usage.ts";
import type { FetchLike, Provider, ProviderConfig } from "../provider.ts";
import { captured } from "../shared/capture.ts";
import { requireKey } from "../shared/key.ts";
import { isRaw } from "../shared/raw.ts";
import { sseTurn } from "../shared/sse-turn.ts";
import type { Warn } from "../shared/thinking.ts";
import { FailureError, failure } from "../stream/errors.ts";
import { keepAliveFetch } from "../stream/transport.ts";
import { modelTurn } from "../stream/turn.ts";
import { mistralFailure } from "./failure.ts";
import { buildRequest } from "./request.ts";

const PUBLIC_URL = "https://api.mistral.ai";

/** Mistral's chat completions, through the `@mistralai/mistralai` SDK. The base URL goes without `/v1`. */
export const mistralChat: Provider = {
  api: "mistral-chat",
  connect(config: ProviderConfig): StreamModel {
    const now = config.now ?? Date.now;
    const send = withHeaders(config.fetch ?? keepAliveFetch(), config.headers);
    const serverURL = (config.baseUrl ?? PUBLIC_URL).replace(/\/(v1\/?)?$/, "");
    return (model: Model, context: ModelContext, options: StreamOptions = {}) => {
      const { tools, names } = wireTools(model.api, context.tools);
      return modelTurn(
        { model, options, timeouts: config.timeouts, now: config.now, names },
        async (turn) => {
          requireKey(config, "Mistral");
          const warn: Warn = (code, message) => turn.warn(code, message);
          const { messages, losses } = adapt(context.messages, model);
          for (const { code, message } of lossWarnings(losses)) warn(code, message);
          const request = buildRequest(model, { ...context, messages, tools }, options, warn);
          const { HTTPClient, Mistral } = await import("@mistralai/mistralai");
          const capture = captured(send, (body) => merged(body, options.extra));
          const client = new Mistral({
            apiKey: config.apiKey ?? "none",
            serverURL,
            httpClient: new HTTPClient({ fetcher: capture.fetch }),
          });
          try {
            await client.chat.stream(request, { signal: turn.signal, retries: { strategy: "none" } });
          } catch (error) {
            throw new FailureError(mistralFailure(error, now()));
          }
          const response = capture.response();
          if (response === undefined) throw new FailureError(failure("protocol", "The SDK made no request."));
          turn.start(
            response.headers.get("mistral-correlation-id") ?? response.headers.get("x-kong-request-id"),
          );
          const inputTokens = (): number => roughTokens(JSON.stringify([request.messages, request.tools]));
          return sseTurn(turn, response, new ChatReader(turn, { model, thinkTags: false, inputTokens }));
        },
      );
    };
  },
};

function withHeaders(send: FetchLike, extra: Readonly<Record<string, string>> | undefined): FetchLike {
  if (extra === undefined) return send;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(extra)) headers.set(name, value);
    return send(input, { ...init, headers });
  };
}

/** Adds the caller's own fields to the body, which the SDK would drop where it does not know them. */
function merged(body: string, extra: StreamOptions["extra"]): string {
  if (extra === undefined) return body;
  const parsed: unknown = JSON.parse(body);
  return isRaw(parsed) ? JSON.stringify({ ...parsed, ...extra }) : body;
}
