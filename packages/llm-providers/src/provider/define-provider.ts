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
  classifyException,
  type Failure,
  FailureError,
  type FailureFacts,
  failure,
} from "../failure/failure.ts";
import { factsOf, refusedBy, successesOf } from "../failure/refused.ts";
import { parseObject } from "../shared/json.ts";
import { type Warn, warnOfLosses } from "../shared/warnings.ts";
import type { TurnWriter } from "../turn/record.ts";
import { modelTurn } from "../turn/turn.ts";
import { type EventReader, readAnswer } from "./event-stream.ts";
import type { Provider, ProviderConfig } from "./provider.ts";
import { keptOnce } from "./sdk.ts";
import { loadUndici, undiciFetch } from "./transport.ts";

/** An account's configuration with its defaults in place; `fetch` throws what is no success. */
export type AccountConfig = ProviderConfig & Required<Pick<ProviderConfig, "fetch" | "now">>;

/** One request to a model, its history and its tools' names as the wire format takes them. */
export interface ModelRequest {
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly config: AccountConfig;
  /** Tells the caller something; before the answer begins. */
  readonly warn: Warn;
}

/** What is specific to one wire format: the SDK's client of an account, and the body of a request to it. */
export interface ProviderDefinition<Client, Params> {
  /** Names the wire format, for instance `anthropic-messages`. */
  readonly api: string;
  /** The vendor, for a message that its key is missing. A server at another `baseUrl` may need none. */
  readonly vendor: string;
  /** The package of the vendor's SDK, an optional peer dependency. */
  readonly requires?: readonly string[];
  /** Headers of the answer that may carry the vendor's id of the request. */
  readonly requestIdHeaders: readonly string[];
  /** Made at the first request and kept; the vendor's SDK is imported here. */
  client(config: AccountConfig): Promise<Client>;
  /** The body, in the words of the vendor's SDK. */
  buildRequest(request: ModelRequest, client: Client): Params;
  /** Resolves with the answer, unread; `fetch` of the account throws where that is a refusal. */
  send(client: Client, params: Params, request: ModelRequest, signal: AbortSignal): Promise<Response>;
  /** What the body of a refusal, or the `error` in it, says beyond what is known without it. */
  readError?(error: JsonObject, known: FailureFacts): FailureFacts;
  createReader(turn: TurnWriter, request: ModelRequest): EventReader;
  /** What to ask instead, once, if a different request can avoid the refusal. */
  mend?(failure: Failure, request: ModelRequest): ModelRequest | undefined;
}

/** A provider over HTTP: builds the request, opens the stream, reads it and classifies failures. */
export function defineProvider<Client, Params>(definition: ProviderDefinition<Client, Params>): Provider {
  const { api, requestIdHeaders } = definition;

  /** Sends a request, and once more where its refusal can be mended; the answer is unread. */
  async function open(
    client: Client,
    request: ModelRequest,
    signal: AbortSignal,
    mayMend = true,
  ): Promise<Response> {
    try {
      return await definition.send(client, definition.buildRequest(request, client), request, signal);
    } catch (error) {
      const refusal = failureOf(error, request.config.now());
      const mended = mayMend ? definition.mend?.(refusal, request) : undefined;
      if (mended === undefined) throw new FailureError(refusal);
      return open(client, mended, signal, false);
    }
  }

  function failureOf(error: unknown, now: number): Failure {
    const refused = refusedBy(error);
    if (refused === undefined) return classifyException(error);
    const body = parseObject(refused.body) ?? {};
    const known = factsOf(refused, now);
    const facts = definition.readError?.(isJsonObject(body.error) ? body.error : body, known) ?? known;
    return classify({ ...facts, requestId: requestIdIn(refused.response.headers) });
  }

  function requestIdIn(headers: Headers): string | undefined {
    return requestIdHeaders.map((name) => headers.get(name) ?? undefined).find(Boolean);
  }

  return {
    api,
    requires: definition.requires ?? [],
    async load() {
      // A client without an account, for what is imported to make it.
      await Promise.all([loadUndici(), definition.client({ apiKey: "none", fetch, now: Date.now })]);
    },
    connect(given) {
      const fetch = successesOf(given.fetch ?? undiciFetch());
      const config: AccountConfig = { now: Date.now, ...given, fetch };
      const client = keptOnce(() => definition.client(config));
      return (model, context, options = {}) => {
        const { tools, names } = wireTools(api, context.tools);
        const { toolChoice: choice } = options;
        const named = typeof choice === "object" && { toolChoice: { name: toolNameFor(api, choice.name) } };
        const setup = { model, context, options, timeouts: config.timeouts, now: config.now, names };
        return modelTurn(setup, async function* (turn) {
          // The vendor itself asks for a key; a server of one's own may not.
          if (config.apiKey === undefined && config.baseUrl === undefined)
            throw new FailureError(failure("auth", `No API key is set for ${definition.vendor}.`));
          const warn: Warn = (code, message) => turn.warn(code, message);
          const { messages, losses } = adapt(context.messages, model);
          warnOfLosses(losses, warn);
          const asked = { ...context, messages, tools };
          const request = { model, context: asked, options: { ...options, ...named }, config, warn };
          const response = await open(await client(), request, turn.signal);
          turn.start(requestIdIn(response.headers));
          yield;
          yield* readAnswer(turn, response, definition.createReader(turn, request));
        });
      };
    },
  };
}
