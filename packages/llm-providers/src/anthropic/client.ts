import type { ProviderConfig } from "../provider.ts";
import { classify, classifyException, FailureError, retryAfterMs } from "../stream/errors.ts";
import { incomingSource, type OnBytes, responseSource } from "../stream/source.ts";
import { keepAliveWire, plainHeaders, toResponse } from "../stream/transport.ts";
import type { TurnSource } from "../stream/turn.ts";

const PUBLIC_URL = "https://api.anthropic.com";
const MESSAGES = "/v1/messages";

type Sdk = Pick<typeof import("@anthropic-ai/sdk/index.js"), "APIError">;

/** An accepted request's answer, unread. */
export interface Answer {
  readonly requestId: string | null;
  read(onBytes: OnBytes, onEnd: () => void): TurnSource;
}

/**
 * Sends one request body, given in parts, to the Messages endpoint.
 *
 * @throws FailureError what the vendor refused it with, or what broke the connection
 */
export type PostMessages = (body: readonly string[], signal: AbortSignal) => Promise<Answer>;

/** What a refused request says, in the words of the SDK's own error for it. */
async function refusal(sdk: Sdk, response: Response, now: number): Promise<FailureError> {
  const text = await response.text();
  let body: object | undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) body = parsed;
  } catch {
    // Not the vendor's format: a proxy, perhaps.
  }
  const message = body === undefined ? text : undefined;
  const error = sdk.APIError.generate(response.status, body, message, response.headers);
  return new FailureError(
    classify({
      message: error.apiMessage ?? error.message,
      status: response.status,
      words: [error.errorCode, error.type],
      retryAfterMs: retryAfterMs(response.headers, now),
      requestId: error.requestID ?? undefined,
    }),
  );
}

/**
 * Makes what sends requests. Address, credentials and headers are the SDK's: it builds one request, which is the same
 * for every turn but for its body, and it says what a refusal means. What it would do besides for each request
 * (retries, time-outs, logging, copies of every header) is not needed here and costs more than the rest of a turn.
 */
export async function openClient(config: ProviderConfig): Promise<PostMessages> {
  // Its three hundred files take a quarter less to load as CommonJS, which this name is for.
  const sdk = await import("@anthropic-ai/sdk/index.js");
  const { apiKey, baseUrl, headers, fetch: send, now = Date.now } = config;
  // The SDK sends the key as a bearer token; other servers that speak this API often know `x-api-key` only.
  const keyHeader = apiKey !== undefined && baseUrl !== undefined ? { "x-api-key": apiKey } : {};
  const client = new sdk.Anthropic({
    // A server of one's own may ask for no key, but the SDK does.
    apiKey: apiKey ?? "none",
    authToken: null,
    baseURL: (baseUrl ?? PUBLIC_URL).replace(/\/+$/, ""),
    maxRetries: 0,
    openTelemetry: false,
    defaultHeaders: { ...keyHeader, ...headers },
  });
  const { req, url } = await client.buildRequest({
    method: "post",
    path: MESSAGES,
    body: "{}",
    headers: { "content-type": "application/json" },
    stream: true,
  });

  const accepted = async (response: Response): Promise<Response> => {
    if (!response.ok) throw await refusal(sdk, response, now());
    return response;
  };

  if (send !== undefined) {
    return async (body, signal) => {
      try {
        const init = { method: "POST", headers: new Headers(req.headers), body: body.join(""), signal };
        const response = await accepted(await send(url, init));
        return {
          requestId: response.headers.get("request-id"),
          read: (onBytes, onEnd) => responseSource(response, onBytes, onEnd),
        };
      } catch (error) {
        throw new FailureError(classifyException(error));
      }
    };
  }

  const exchange = keepAliveWire();
  const request = { url: new URL(url), method: "POST", headers: plainHeaders(req.headers) };
  return async (body, signal) => {
    try {
      const incoming = await exchange({ ...request, body, signal });
      const status = incoming.statusCode ?? 0;
      if (status < 200 || status > 299) await accepted(toResponse(incoming));
      const id = incoming.headers["request-id"];
      return {
        requestId: typeof id === "string" ? id : null,
        read: (onBytes, onEnd) => incomingSource(incoming, onBytes, onEnd),
      };
    } catch (error) {
      throw new FailureError(classifyException(error));
    }
  };
}
