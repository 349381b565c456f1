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
  type Failure,
  FailureError,
  type FailureFacts,
  factsOf,
  failure,
} from "../failure/failure.ts";
import { parseObject } from "../shared/json.ts";
import { keptOnce } from "../shared/once.ts";
import { type Warn, warnOfLosses } from "../shared/warnings.ts";
import type { TurnWriter } from "../turn/record.ts";
import { modelTurn } from "../turn/turn.ts";
import { bodyText, type EventReader, readAnswer } from "./event-stream.ts";
import type { Provider, ProviderConfig } from "./provider.ts";
import { fetchTransport, type HttpRequest, type HttpResponse, type Transport } from "./transport.ts";
import { undiciTransport } from "./undici.ts";

/** An account's configuration with its defaults in place. */
export type AccountConfig = ProviderConfig & Required<Pick<ProviderConfig, "now">>;

/** One request to a model, its history and its tools' names as the wire format takes them. */
export interface ModelRequest {
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly config: AccountConfig;
  /** Tells the caller something; before the answer begins. */
  readonly warn: Warn;
}

/** What is specific to one wire format. */
export interface ProviderDefinition<Client> {
  /** Names the wire format, for instance `anthropic-messages`. */
  readonly api: string;
  /** The vendor, for a message that its key is missing. A server at another `baseUrl` may need none. */
  readonly vendor: string;
  /** The package of the vendor's SDK, an optional peer dependency. */
  readonly requires?: readonly string[];
  /** Headers of the answer that may carry the vendor's id of the request. */
  readonly requestIdHeaders: readonly string[];
  /** What is known of an account for all its requests, made at the first; the vendor's SDK is imported here. */
  client(config: AccountConfig): Promise<Client>;
  /** The request as the vendor's SDK would send it. */
  buildRequest(request: ModelRequest, client: Client): HttpRequest | Promise<HttpRequest>;
  /** What the body of a refusal, or the `error` in it, says beyond what is known without it. */
  readError?(error: JsonObject, known: FailureFacts): FailureFacts;
  createReader(turn: TurnWriter, request: ModelRequest): EventReader;
  /** What to ask instead, once, if a different request can avoid the refusal. */
  mend?(refusal: Failure, request: ModelRequest): ModelRequest | undefined;
}

/** What a server that has no models is asked. */
const NO_MODEL: Omit<Model, "api"> = {
  id: "none",
  provider: "none",
  contextWindow: 1_000,
  maxOutputTokens: 100,
  input: ["text"],
  thinking: [],
  tools: "native",
};
const GREETING: ModelContext = {
  system: { stable: "Greet back." },
  messages: [{ role: "user", content: "Hello.", timestamp: 0 }],
  tools: [],
};

/** A provider over HTTP: builds the request, opens the stream, reads it and classifies failures. */
export function defineProvider<Client>(definition: ProviderDefinition<Client>): Provider {
  const { api, requestIdHeaders } = definition;

  /** Sends a request, and once more where its refusal can be mended; the answer is unread. */
  async function open(
    send: Transport,
    client: Client,
    request: ModelRequest,
    signal: AbortSignal,
    mayMend = true,
  ): Promise<HttpResponse> {
    const response = await send(await definition.buildRequest(request, client), signal);
    if (response.status >= 200 && response.status < 300) return response;
    const refusal = await refusalOf(response, request.config.now());
    const mended = mayMend ? definition.mend?.(refusal, request) : undefined;
    if (mended === undefined) throw new FailureError(refusal);
    return open(send, client, mended, signal, false);
  }

  async function refusalOf(response: HttpResponse, now: number): Promise<Failure> {
    const said = await bodyText(response.body);
    const body = parseObject(said) ?? {};
    const known = factsOf(response, said, now);
    const facts = definition.readError?.(isJsonObject(body.error) ? body.error : body, known) ?? known;
    return classify({ ...facts, requestId: requestIdOf(response) });
  }

  function requestIdOf(response: HttpResponse): string | undefined {
    return requestIdHeaders.map((name) => response.header(name)).find(Boolean);
  }

  const provider: Provider = {
    api,
    requires: definition.requires ?? [],
    async load(at) {
      // A client without an account, for what is imported to make it.
      await Promise.all([import("undici"), definition.client({ apiKey: "none", now: Date.now })]);
      if (at === undefined) return;
      const ask = provider.connect({ apiKey: "none", baseUrl: at });
      for await (const _ of ask({ ...NO_MODEL, api }, GREETING)) {
        // It is refused, and that is all there is to know.
      }
    },
    connect(given) {
      const config: AccountConfig = { now: Date.now, ...given };
      const send = given.fetch === undefined ? undiciTransport() : fetchTransport(given.fetch);
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
          const response = await open(send, await client(), request, turn.signal);
          turn.start(requestIdOf(response));
          yield;
          yield* readAnswer(turn, response, definition.createReader(turn, request));
        });
      };
    },
  };
  return provider;
}
