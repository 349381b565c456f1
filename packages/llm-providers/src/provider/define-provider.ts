import {
  isJsonObject,
  type JsonObject,
  type Model,
  type ModelContext,
  type StreamOptions,
} from "@signalbox/agent-core";
import { adapt } from "../adapt/adapt.ts";
import { toolNameFor, wireTools } from "../adapt/names.ts";
import {
  classify,
  describeRefusal,
  type Failure,
  FailureError,
  type FailureFacts,
  failure,
} from "../failure/failure.ts";
import { parseObject } from "../shared/json.ts";
import { type Warn, warnOfLosses } from "../shared/warnings.ts";
import type { TurnWriter } from "../turn/record.ts";
import { modelTurn } from "../turn/turn.ts";
import { type EventReader, readResponse } from "./event-stream.ts";
import { bodyText, defaultFetch, responseBytes } from "./http.ts";
import type { FetchLike, Provider, ProviderConfig } from "./provider.ts";

/** An account's configuration with its defaults applied. */
export type AccountConfig = ProviderConfig & Required<Pick<ProviderConfig, "now" | "fetch">>;

/** One request to a model. Its history and tool names already fit the wire format. */
export interface ModelRequest {
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly config: AccountConfig;
  /** Sends the request. It follows no redirects, so a server cannot pass the key on to another host. */
  readonly fetch: FetchLike;
  /** Aborts when the caller aborts or stops reading, and when the vendor is silent for too long. */
  readonly signal: AbortSignal;
  /** Adds a warning to the turn's `start` event. */
  readonly warn: Warn;
}

/** The parts of a provider that differ between wire formats. */
export interface ProviderDefinition {
  /** The wire format, for instance `anthropic-messages`. */
  readonly api: string;
  /** The vendor's name, for the message that its key is missing. A server at another `baseUrl` may need no key. */
  readonly vendor: string;
  /** The npm packages to install with this provider. */
  readonly requires?: readonly string[];
  /** Response headers that may hold the vendor's request id; the first one found is used. */
  readonly requestIdHeaders: readonly string[];
  /** Imports the vendor's SDK. */
  load?(): Promise<unknown>;
  /** Sends the request and returns the response unread, also if it is a refusal. */
  send(request: ModelRequest): Promise<Response>;
  /** Adds to `known` what an error body, or the `error` object in it, says. */
  readError?(error: JsonObject, known: FailureFacts): FailureFacts;
  createReader(turn: TurnWriter, request: ModelRequest): EventReader;
  /** Returns the request to send once instead, if a different one can avoid the refusal. */
  mend?(refusal: Failure, request: ModelRequest): ModelRequest | undefined;
}

/**
 * Creates a provider over HTTP. It adapts the history, sends the request, reads the response and classifies failures.
 * @example
 * const echo = defineProvider({
 *   api: "echo",
 *   vendor: "Echo",
 *   requestIdHeaders: ["x-request-id"],
 *   send: ({ context, config, fetch, signal }) =>
 *     fetch(`${config.baseUrl}/say`, { method: "POST", body: JSON.stringify(context.messages), signal }),
 *   createReader: (turn) => ({ data: (text) => turn.append(turn.open({ type: "text" }), text) }),
 * });
 */
export function defineProvider(definition: ProviderDefinition): Provider {
  const { api, requestIdHeaders, requires = [] } = definition;

  function getRequestId({ headers }: Response): string | undefined {
    return requestIdHeaders.map((name) => headers.get(name) ?? "").find(Boolean);
  }

  async function readRefusal(response: Response, { config, signal }: ModelRequest): Promise<Failure> {
    const text = await bodyText(responseBytes(response, signal));
    const body = parseObject(text) ?? {};
    const known = describeRefusal(response, text, config.now());
    const facts = definition.readError?.(isJsonObject(body.error) ? body.error : body, known) ?? known;
    return classify({ ...facts, requestId: getRequestId(response) });
  }

  /** @throws FailureError if the vendor refuses the request */
  async function send(request: ModelRequest, mayMend = true): Promise<Response> {
    const response = await definition.send(request);
    if (response.ok) return response;
    const refusal = await readRefusal(response, request);
    const mended = mayMend ? definition.mend?.(refusal, request) : undefined;
    if (mended === undefined) throw new FailureError(refusal);
    return send(mended, false);
  }

  return {
    api,
    requires,
    async load() {
      await definition.load?.();
    },
    connect(given) {
      const config: AccountConfig = {
        ...given,
        ...(given.baseUrl && { baseUrl: withoutCredentials(given.baseUrl) }),
        now: given.now ?? Date.now,
        fetch: given.fetch ?? defaultFetch,
      };
      const fetch: FetchLike = (input, init) => config.fetch(input, { ...init, redirect: "manual" });
      return (model, context, options = {}) => {
        const { tools, names } = wireTools(api, context.tools);
        const setup = { model, context, options, timeouts: config.timeouts, now: config.now, names };
        return modelTurn(setup, async function* (turn) {
          if (config.apiKey === undefined && config.baseUrl === undefined)
            throw new FailureError(failure("auth", `No API key is set for ${definition.vendor}.`));
          const warn: Warn = (code, message) => turn.warn(code, message);
          const { messages, losses } = adapt(context.messages, model);
          warnOfLosses(losses, warn);
          const request: ModelRequest = {
            model,
            context: { ...context, messages, tools },
            options: withWireToolChoice(api, options),
            config,
            fetch,
            signal: turn.signal,
            warn,
          };
          const response = await send(request);
          turn.start(getRequestId(response));
          yield;
          yield* readResponse(turn, response, definition.createReader(turn, request));
        });
      };
    },
  };
}

/** `fetch` rejects addresses with a user name and a password in them. */
function withoutCredentials(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.username === "" && url.password === "")) return address;
  url.username = "";
  url.password = "";
  return url.href;
}

function withWireToolChoice(api: string, options: StreamOptions): StreamOptions {
  const { toolChoice } = options;
  if (typeof toolChoice !== "object") return options;
  return { ...options, toolChoice: { name: toolNameFor(api, toolChoice.name) } };
}
