import {
  estimateRequest,
  isJsonObject,
  type JsonObject,
  type Message,
  type Model,
  type ModelContext,
  type StreamOptions,
  toWellFormed,
} from "@signalbox/agent-core";
import { adapt } from "../adapt/adapt.ts";
import { keepLastImages } from "../adapt/media.ts";
import { toolNameFor, type WireTools, wireTools } from "../adapt/names.ts";
import { simplifySchema } from "../adapt/plain-schema.ts";
import { renameKeys } from "../adapt/schema.ts";
import {
  classify,
  describeRefusal,
  type Failure,
  FailureError,
  type FailureFacts,
  failure,
  isWordless,
  mayBeOverflow,
} from "../failure/failure.ts";
import { parseObject } from "../shared/json.ts";
import { type Warn, warnOfLosses } from "../shared/warnings.ts";
import type { TurnWriter } from "../turn/record.ts";
import { modelTurn } from "../turn/turn.ts";
import { type EventReader, readResponse } from "./event-stream.ts";
import { bodyText, defaultFetch, responseBytes } from "./http.ts";
import { type Lesson, Lessons, learnFromRefusal, type Refusal, withoutFields } from "./lessons.ts";
import type { FetchLike, Provider, ProviderConfig } from "./provider.ts";

/** An account's configuration with its defaults applied. */
export type AccountConfig = ProviderConfig & Required<Pick<ProviderConfig, "now" | "fetch">>;

/** One request to a model. Its history and tool names already match the wire format. */
export interface ModelRequest {
  /** Includes the corrections learned from earlier refusals. */
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly config: AccountConfig;
  /** Sends the request. It does not follow redirects, so a server cannot forward the key to another host. */
  readonly fetch: FetchLike;
  /** Aborts when the caller aborts or stops reading, or when the vendor is silent for too long. */
  readonly signal: AbortSignal;
  /** Adds a warning to the turn's `start` event. */
  readonly warn: Warn;
  /** Fails the turn unless the answer is JSON, for vendors without an option for it. */
  readonly expectJson: () => void;
}

/** The parts of a provider that differ between wire formats. */
export interface ProviderDefinition {
  readonly api: string;
  /** The vendor's name, for the message about a missing key. A server at another `baseUrl` may need no key. */
  readonly vendor: string;
  /** The npm packages to install with this provider. */
  readonly requires?: readonly string[];
  /** Response headers that may contain the vendor's request id. The first one found is used. */
  readonly requestIdHeaders: readonly string[];
  /** Imports the vendor's SDK. */
  load?(): Promise<unknown>;
  /** Sends the request and returns the unread response, even if it is a refusal. */
  send(request: ModelRequest): Promise<Response>;
  /** Adds the facts from an error body, or from the `error` object in it, to `known`. */
  readError?(error: JsonObject, known: FailureFacts): FailureFacts;
  /**
   * Creates the reader for one response.
   *
   * @param learn remembers a fact about the model for its next requests
   */
  createReader(turn: TurnWriter, request: ModelRequest, learn: (quirks: JsonObject) => void): EventReader;
  /** Returns the lesson from a refusal in this wire format. The request is then built again. */
  learn?(refusal: Refusal, request: ModelRequest): Lesson | undefined;
  /**
   * Returns a modified request that avoids the refusal, if there is one. It is sent once, and nothing is remembered.
   */
  mend?(refusal: Refusal, request: ModelRequest): ModelRequest | undefined;
}

/** Maximum number of times that one request is rebuilt. Each time, the server has refused something else. */
const MAX_LESSONS = 16;
/** Maximum length of the name of a refused field, in UTF-16 code units. */
const MAX_PARAM_LENGTH = 200;
/** Share of the window above which an unexplained refusal is treated as an overflow. */
const NEARLY_FULL = 0.9;

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
  return {
    api: definition.api,
    requires: definition.requires ?? [],
    async load() {
      await definition.load?.();
    },
    connect(given) {
      const account = new HttpAccount(definition, given);
      return (model, context, options = {}) => {
        const wire = wireTools(definition.api, context.tools);
        const { names, properties } = wire;
        const { timeouts, now } = account.config;
        return modelTurn({ model, context, options, timeouts, now, names, properties }, (turn) =>
          account.readTurn(turn, model, { ...context, tools: wire.tools }, options, properties),
        );
      };
    },
  };
}

/** One account, and the lessons from its server's refusals. */
class HttpAccount {
  readonly config: AccountConfig;
  readonly #definition: ProviderDefinition;
  readonly #lessons = new Lessons();

  constructor(definition: ProviderDefinition, given: ProviderConfig) {
    this.#definition = definition;
    this.config = {
      ...given,
      ...(given.baseUrl && { baseUrl: withoutCredentials(given.baseUrl) }),
      now: given.now ?? Date.now,
      fetch: given.fetch ?? defaultFetch,
    };
  }

  async *readTurn(
    turn: TurnWriter,
    model: Model,
    context: ModelContext,
    options: StreamOptions,
    properties: WireTools["properties"],
  ): AsyncGenerator<void> {
    const { apiKey, baseUrl } = this.config;
    if (apiKey === undefined && baseUrl === undefined)
      throw new FailureError(failure("auth", `No API key is set for ${this.#definition.vendor}.`));
    const warn: Warn = (code, message) => turn.warn(code, message);
    const { messages, losses } = adapt(context.messages, model);
    warnOfLosses(losses, warn);
    const { system, tools } = toWellFormed({ system: context.system, tools: context.tools });
    const exchange = await this.#exchange({
      model,
      context: { system, messages: withWireProperties(messages, properties), tools },
      options: withWireToolChoice(this.#definition.api, options),
      config: this.config,
      fetch: this.config.fetch,
      signal: turn.signal,
      warn,
      expectJson: () => turn.expectJson(),
    });
    turn.start(this.#requestId(exchange.response));
    yield;
    const learn = (quirks: JsonObject): void => void this.#lessons.add(model, { model: { quirks } });
    const reader = this.#definition.createReader(turn, exchange.request, learn);
    yield* readResponse(turn, exchange.response, reader);
  }

  /**
   * Sends a request. Sends it again as long as each refusal yields a new lesson.
   *
   * @throws FailureError if the vendor refuses the request
   */
  async #exchange(wanted: ModelRequest): Promise<{ request: ModelRequest; response: Response }> {
    const { model } = wanted;
    let mended: ModelRequest | undefined;
    let maxOutputTokens: number | undefined;
    for (let attempt = 0; ; attempt++) {
      let body: JsonObject = {};
      const request = this.#prepare(mended ?? wanted, maxOutputTokens, (sent) => {
        body = sent;
      });
      const response = await this.#definition.send(request);
      if (response.ok) {
        this.#lessons.accepted(model, estimateRequest(request.context));
        return { request, response };
      }
      const refusal = await this.#readRefusal(response, request);
      const sent = new Set(request.context.tools.map(({ name }) => name));
      const tools = wanted.context.tools.filter(({ name }) => sent.has(name));
      const hasPlainSchemas = this.#lessons.needsPlainSchemas(model);
      const lesson =
        this.#definition.learn?.(refusal, request) ?? learnFromRefusal(refusal, body, tools, hasPlainSchemas);
      const isNew = lesson !== undefined && this.#lessons.add(model, lesson, tools, refusal.failure.message);
      const isLess = lesson?.maxOutputTokens !== undefined && lesson.maxOutputTokens !== maxOutputTokens;
      if (attempt < MAX_LESSONS && (isNew || isLess)) {
        maxOutputTokens = lesson?.maxOutputTokens ?? maxOutputTokens;
        continue;
      }
      mended = mended === undefined ? this.#definition.mend?.(refusal, request) : undefined;
      if (mended === undefined) throw new FailureError(this.#judge(refusal.failure, request));
    }
  }

  /**
   * Treats an unexplained refusal as an overflow if it may be one: if the request is the largest so far, or if it
   * continues a conversation on a server that has not accepted any request since the start.
   */
  #judge(refused: Failure, { model, context }: ModelRequest): Failure {
    if (refused.code !== "invalid" || !mayBeOverflow(refused.message)) return refused;
    const isLong = this.#lessons.isUntried(model)
      ? context.messages.length > 2
      : this.#lessons.isLargest(model, estimateRequest(context));
    return isLong ? failure("overflow", refused.message, refused) : refused;
  }

  /**
   * Applies the lessons.
   *
   * @param onBody called with the body that is sent
   */
  #prepare(
    wanted: ModelRequest,
    maxOutputTokens: number | undefined,
    onBody: (body: JsonObject) => void,
  ): ModelRequest {
    const { model, context, warn } = wanted;
    const fields = this.#lessons.fields(model);
    for (const field of fields)
      warn(
        "field_dropped",
        `This server does not accept \`${field}\` for ${model.id}, so the field was omitted.`,
      );
    const limits = this.#lessons.limits(model);
    const accepted = context.tools.filter((tool) => {
      const reason = this.#lessons.refusalOf(model, tool);
      if (reason !== undefined)
        warn("tool_dropped", `The server refused the tool "${tool.name}", so it was left out: ${reason}`);
      return reason === undefined;
    });
    const sent = accepted.slice(0, limits.tools);
    const tools = this.#lessons.needsPlainSchemas(model) ? sent.map(simplifySchema) : sent;
    const further = accepted.slice(limits.tools).map(({ name }) => name);
    if (further.length > 0)
      warn(
        "tool_dropped",
        `The server accepts ${limits.tools} tools, so ${further.join(", ")} were left out.`,
      );
    const { messages, dropped } = keepLastImages(context.messages, limits.images);
    if (dropped > 0)
      warn(
        "history_media",
        `The server accepts ${limits.images} images, so ${dropped} earlier ones were left out.`,
      );
    const corrected = this.#lessons.correct(model);
    const limit = maxOutputTokens ?? corrected.maxOutputTokens;
    return {
      ...wanted,
      model: { ...corrected, maxOutputTokens: Math.min(limit, corrected.maxOutputTokens) },
      context: { ...context, messages, tools },
      fetch: (input, init) => {
        const body = typeof init?.body === "string" ? parseObject(init.body) : undefined;
        if (body === undefined) return this.config.fetch(input, { ...init, redirect: "manual" });
        const sent = withoutFields(body, fields);
        onBody(sent);
        const text = sent === body ? init?.body : JSON.stringify(sent);
        return this.config.fetch(input, { ...init, body: text, redirect: "manual" });
      },
    };
  }

  async #readRefusal(response: Response, { model, context, signal }: ModelRequest): Promise<Refusal> {
    const text = await bodyText(responseBytes(response, signal));
    // Gemini's OpenAI-compatible endpoint sends errors in a list.
    const body = parseObject(text.trim().replace(/^\[([\s\S]*)\]$/, "$1")) ?? {};
    const known = describeRefusal(response, text, this.config.now());
    const { readError } = this.#definition;
    const facts = readError?.(isJsonObject(body.error) ? body.error : body, known) ?? known;
    const found = classify({ ...facts, requestId: this.#requestId(response) });
    const tokens = estimateRequest(context);
    const isOverflow =
      found.code === "invalid" &&
      (tokens > NEARLY_FULL * model.contextWindow ||
        (isWordless(text) && this.#lessons.isLargest(model, tokens)));
    return {
      failure: isOverflow ? failure("overflow", found.message, found) : found,
      param: facts.param?.slice(0, MAX_PARAM_LENGTH),
    };
  }

  #requestId({ headers }: Response): string | undefined {
    return this.#definition.requestIdHeaders.map((name) => headers.get(name) ?? "").find(Boolean);
  }
}

/** Renames the arguments of earlier calls to the wire names of the tools' properties. */
function withWireProperties(
  messages: readonly Message[],
  properties: WireTools["properties"],
): readonly Message[] {
  if (properties.size === 0) return messages;
  return messages.map((message) => {
    if (message.role !== "assistant") return message;
    const content = message.content.map((block) => {
      const own = block.type === "toolCall" ? properties.get(block.name) : undefined;
      if (block.type !== "toolCall" || own === undefined || block.args === undefined) return block;
      const wire = new Map([...own].map(([onWire, name]) => [name, onWire]));
      return { ...block, args: renameKeys(block.args, wire) };
    });
    return { ...message, content };
  });
}

/** `fetch` rejects URLs that contain a user name and a password. */
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
