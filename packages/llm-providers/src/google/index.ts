import type { GoogleGenAI } from "@google/genai";
import type { Model, ModelContext, StreamModel, StreamOptions } from "@signalbox/agent-core";
import { adapt, lossWarnings } from "../adapt/index.ts";
import { wireTools } from "../adapt/names.ts";
import type { FetchLike, Provider, ProviderConfig } from "../provider.ts";
import { captured } from "../shared/capture.ts";
import { requireKey } from "../shared/key.ts";
import { sseTurn } from "../shared/sse-turn.ts";
import type { Warn } from "../shared/thinking.ts";
import { FailureError, failure } from "../stream/errors.ts";
import { keepAliveFetch } from "../stream/transport.ts";
import { modelTurn } from "../stream/turn.ts";
import { googleFailure } from "./failure.ts";
import { GoogleReader } from "./reader.ts";
import { buildRequest } from "./request.ts";

const PUBLIC_URL = "https://generativelanguage.googleapis.com";

/** Google's Gemini API, through the `@google/genai` SDK. The base URL goes without `/v1beta`. */
export const googleGenerative: Provider = {
  api: "google-generative",
  connect(config: ProviderConfig): StreamModel {
    const now = config.now ?? Date.now;
    const send = config.fetch ?? keepAliveFetch();
    let client: GoogleGenAI | undefined;
    return (model: Model, context: ModelContext, options: StreamOptions = {}) => {
      const { tools, names } = wireTools(model.api, context.tools);
      return modelTurn(
        { model, options, timeouts: config.timeouts, now: config.now, names },
        async (turn) => {
          requireKey(config, "Google");
          const warn: Warn = (code, message) => turn.warn(code, message);
          const { messages, losses } = adapt(context.messages, model);
          for (const { code, message } of lossWarnings(losses)) warn(code, message);
          const sdk = await import("@google/genai");
          client ??= makeClient(sdk, config);
          const request = buildRequest(model, { ...context, messages, tools }, options, sdk, warn);
          let refused: Response | undefined;
          const watched: FetchLike = async (input, init) => {
            const response = await send(input, init);
            if (!response.ok) refused = response;
            return response;
          };
          const capture = captured(watched);
          request.config.abortSignal = turn.signal;
          request.config.httpOptions = {
            fetch: capture.fetch,
            ...(options.extra === undefined ? {} : { extraBody: { ...options.extra } }),
          };
          try {
            await client.models.generateContentStream(request);
          } catch (error) {
            throw new FailureError(googleFailure(error, refused, now()));
          }
          const response = capture.response();
          if (response === undefined) throw new FailureError(failure("protocol", "The SDK made no request."));
          turn.start(response.headers.get("x-request-id"));
          return sseTurn(turn, response, new GoogleReader(turn, model));
        },
      );
    };
  },
};

function makeClient(sdk: typeof import("@google/genai"), config: ProviderConfig): GoogleGenAI {
  return new sdk.GoogleGenAI({
    vertexai: false,
    apiKey: config.apiKey ?? "none",
    apiVersion: "v1beta",
    httpOptions: {
      baseUrl: (config.baseUrl ?? PUBLIC_URL).replace(/\/(v1beta\/?)?$/, ""),
      ...(config.headers === undefined ? {} : { headers: { ...config.headers } }),
    },
  });
}
