import type Anthropic from "@anthropic-ai/sdk";
import type { Message, ModelContext, StreamModel, StreamOptions } from "@signalbox/agent-core";
import type { Provider, ProviderConfig } from "../provider.ts";
import {
  classify,
  classifyException,
  type Failure,
  FailureError,
  failure,
  retryAfterMs,
} from "../stream/errors.ts";
import { responseSource } from "../stream/source.ts";
import { SseParser } from "../stream/sse.ts";
import { rawAnswerFetch } from "../stream/transport.ts";
import { modelTurn } from "../stream/turn.ts";
import { AnswerReader } from "./read.ts";
import { RequestBuilder } from "./request.ts";

const PUBLIC_URL = "https://api.anthropic.com";
/** The SDK's own limit is for the whole wait for headers; silence is watched by the turn, so this only backs it up. */
const SDK_TIMEOUT_MS = 600_000;

type Sdk = typeof import("@anthropic-ai/sdk");

/** What a refused request says, from the SDK's error. */
function sdkFailure(sdk: Sdk, error: unknown, now: number): Failure {
  if (!(error instanceof sdk.APIError) || error.status === undefined) {
    if (error instanceof sdk.APIConnectionTimeoutError)
      return failure("timeout", "The vendor did not answer in time.");
    return classifyException(error);
  }
  const { headers } = error;
  return classify({
    message: error.apiMessage ?? error.message,
    status: error.status,
    words: [error.errorCode, error.type],
    retryAfterMs: retryAfterMs(headers, now),
    requestId: error.requestID ?? undefined,
  });
}

/**
 * Thinking belongs to the conversation it was thought in: where a host has shortened or edited the history, newer
 * models refuse what is left of it. Losing the thinking is better than losing the conversation.
 */
function refusesThinking(error: unknown): boolean {
  return (
    error instanceof FailureError &&
    error.failure.status === 400 &&
    /\bthinking\b[\s\S]*\bblocks?\b|`thinking`|signature/i.test(error.failure.message)
  );
}

function hasThinking(message: Message): boolean {
  return message.role === "assistant" && message.content.some((block) => block.type === "thinking");
}

function withoutThinking(context: ModelContext): ModelContext {
  const messages = context.messages.map((message) =>
    message.role === "assistant"
      ? { ...message, content: message.content.filter((block) => block.type !== "thinking") }
      : message,
  );
  return { ...context, messages };
}

async function makeClient(config: ProviderConfig): Promise<{ sdk: Sdk; client: Anthropic }> {
  const sdk = await import("@anthropic-ai/sdk");
  const { apiKey, baseUrl, headers } = config;
  // The SDK sends the key as a bearer token; other servers that speak this API often know `x-api-key` only.
  const keyHeader = apiKey !== undefined && baseUrl !== undefined ? { "x-api-key": apiKey } : {};
  const client = new sdk.Anthropic({
    // A server of one's own may ask for no key, but the SDK does.
    apiKey: apiKey ?? "none",
    authToken: null,
    baseURL: (baseUrl ?? PUBLIC_URL).replace(/\/+$/, ""),
    fetch: config.fetch ?? rawAnswerFetch(),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    openTelemetry: false,
    defaultHeaders: { ...keyHeader, ...headers },
  });
  return { sdk, client };
}

/** Anthropic's Messages API (and the servers that speak it) for one account, through the vendor's SDK. */
export function connectAnthropic(config: ProviderConfig): StreamModel {
  const now = config.now ?? Date.now;
  const builder = new RequestBuilder();
  let client: ReturnType<typeof makeClient> | undefined;

  return (model, context, options = {}) =>
    modelTurn({ model, options, timeouts: config.timeouts, now: config.now }, async (turn) => {
      if (config.apiKey === undefined && config.baseUrl === undefined)
        throw new FailureError(failure("auth", "No API key is set for Anthropic."));
      client ??= makeClient(config);
      const { sdk, client: anthropic } = await client;
      const warn = (code: string, message: string): void => turn.warn(code, message);
      const ask = async (asked: ModelContext, how: StreamOptions): Promise<Response> => {
        const body = builder.build(model, asked, how, warn);
        const headers = { "content-type": "application/json" };
        try {
          return await anthropic
            .post("/v1/messages", { body, headers, signal: turn.signal, stream: true })
            .asResponse();
        } catch (error) {
          throw new FailureError(sdkFailure(sdk, error, now()));
        }
      };
      let response: Response;
      try {
        response = await ask(context, options);
      } catch (error) {
        if (!refusesThinking(error) || !context.messages.some(hasThinking)) throw error;
        warn(
          "thinking.dropped",
          "The vendor refused the thinking in the history: it was asked again without.",
        );
        response = await ask(withoutThinking(context), { ...options, thinking: "off" });
      }
      turn.start(response.headers.get("request-id"));
      const reader = new AnswerReader(turn, model);
      const sse = new SseParser(reader.event);
      return responseSource(
        response,
        (chunk) => sse.push(chunk),
        () => {
          sse.end();
          reader.end();
        },
      );
    });
}

/** The wire format `anthropic-messages`. */
export const anthropicMessages: Provider = { api: "anthropic-messages", connect: connectAnthropic };
