import type { ServerResponse } from "node:http";
import { type FakeServer, json, listen, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import type { Script, ScriptedTurn } from "../script.ts";
import { playFrames, readTurns, roughTokens } from "../turns.ts";
import { type ChatAnswer, type ChatVoice, chatCompletion, chatFrames } from "./chat.ts";
import { type ChatDialect, checkChat } from "./check-chat.ts";
import { checkResponses, type Issued } from "./check-responses.ts";
import { responseFrames, responseObject } from "./responses.ts";
import { OpenAIRefusal } from "./wire.ts";

/** Options of a fake OpenAI, or of a server with its chat API. */
export interface OpenAIOptions {
  readonly script: Script;
  /** The only accepted key. Absent: any key, or none. */
  readonly apiKey?: string;
  /** The only available models. Absent: all. */
  readonly models?: readonly string[];
  /** Maximum number of input tokens, estimated as four characters each. Default: no limit. */
  readonly contextWindow?: number;
  /** True if the output counts against the window, as with vLLM. */
  readonly windowIncludesOutput?: boolean;
  /** Differences between the chat endpoint and OpenAI's rules. */
  readonly dialect?: ChatDialect;
  /** Field for reasoning in a chat delta, for example `reasoning_content`. OpenAI has no such field. */
  readonly reasoningField?: string;
  /** Reports usage in chat streams on request (default), always, or never. */
  readonly usage?: "always" | "asked" | "never";
  /** Default: 0, which selects a free port. */
  readonly port?: number;
}

/** A running fake server. */
export interface FakeOpenAI extends FakeServer {
  /** For the SDK's `baseURL`: the URL with `/v1`. */
  readonly baseUrl: string;
  /** Every request so far, including refused ones. */
  readonly requests: readonly SeenRequest[];
}

/**
 * Serves `/v1/chat/completions`, `/v1/responses` and `/v1/models` from a script, with and without streaming. Refuses
 * the same requests as OpenAI, in its words.
 */
export async function startOpenAI(options: OpenAIOptions): Promise<FakeOpenAI> {
  const turns = readTurns(options.script);
  const requests: SeenRequest[] = [];
  const issued: Issued = { encrypted: new Set(), reasoningOf: new Map() };
  let serial = 0;
  const newId = (prefix: string): string => `${prefix}${(++serial).toString(36).padStart(24, "0")}`;
  const voice: ChatVoice = { reasoningField: options.reasoningField, usage: options.usage ?? "asked" };

  const fakeServer = await listen(async (request, response) => {
    requests.push(request);
    const headers = { "x-request-id": newId("req_") };
    try {
      await answer(request, response, headers);
    } catch (error) {
      if (!(error instanceof OpenAIRefusal)) throw error;
      json(response, error.status, error.body(), headers);
    }
  }, options.port);

  async function answer(
    request: SeenRequest,
    response: ServerResponse,
    headers: Record<string, string>,
  ): Promise<void> {
    const path = request.path.split("?")[0];
    checkKey(request, options.apiKey);
    if (request.method === "GET" && path === "/v1/models") {
      const data = (options.models ?? ["gpt-5.2"]).map((id) => ({
        id,
        object: "model",
        created: 0,
        owned_by: "system",
      }));
      json(response, 200, { object: "list", data }, headers);
      return;
    }
    const chat = path === "/v1/chat/completions";
    if (request.method !== "POST" || !(chat || path === "/v1/responses")) {
      throw new OpenAIRefusal(404, `Invalid URL (${request.method} ${request.path})`);
    }
    const body = parse(request.text);
    if (chat) checkChat(body, options.dialect ?? {});
    else checkResponses(body, issued);
    checkModel(body, options.models, chat);
    const inputTokens = roughTokens(request.text);
    checkWindow(inputTokens, options.contextWindow, chat);
    if (options.windowIncludesOutput) checkRoom(inputTokens, options.contextWindow, body);
    const turn = await turns.next(body);
    if (turn.error && turn.error.afterEvents === undefined) {
      refuseAsScripted(response, turn.error, headers);
      return;
    }
    const about: ChatAnswer = {
      id: newId(chat ? "chatcmpl-" : "resp_"),
      model: String(body.model),
      created: Math.floor(request.at / 1000),
      inputTokens,
      newId,
    };
    if (body.stream !== true) {
      json(
        response,
        200,
        chat ? chatCompletion(turn, about, voice) : responseObject(turn, about, body, issued),
        headers,
      );
      return;
    }
    const frames = chat ? chatFrames(turn, about, voice, body) : responseFrames(turn, about, body, issued);
    await playFrames(response, frames, turn, { headers, errorFrames: errorFrames(turn, about, chat) });
  }

  return { ...fakeServer, baseUrl: `${fakeServer.url}/v1`, requests };
}

function parse(text: string): Raw {
  try {
    const body: unknown = JSON.parse(text);
    if (isRaw(body)) return body;
  } catch {}
  throw new OpenAIRefusal(
    400,
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
  );
}

function checkKey(request: SeenRequest, apiKey: string | undefined): void {
  if (apiKey === undefined) return;
  const header = request.headers.authorization;
  if (typeof header !== "string" || header === "") {
    throw new OpenAIRefusal(
      401,
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    );
  }
  const key = header.replace(/^Bearer /, "");
  if (key === apiKey) return;
  const shown = key.length > 8 ? `${key.slice(0, 4)}****${key.slice(-4)}` : "****";
  throw new OpenAIRefusal(
    401,
    `Incorrect API key provided: ${shown}. You can find your API key at https://platform.openai.com/account/api-keys.`,
    {
      code: "invalid_api_key",
    },
  );
}

function checkModel(body: Raw, models: readonly string[] | undefined, chat: boolean): void {
  const model = String(body.model);
  if (models === undefined || models.includes(model)) return;
  throw chat
    ? new OpenAIRefusal(404, `The model \`${model}\` does not exist or you do not have access to it.`, {
        code: "model_not_found",
      })
    : new OpenAIRefusal(400, `The requested model '${model}' does not exist.`, {
        param: "model",
        code: "model_not_found",
      });
}

function checkWindow(tokens: number, window: number | undefined, chat: boolean): void {
  if (window === undefined || tokens <= window) return;
  throw chat
    ? new OpenAIRefusal(
        400,
        `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
        { param: "messages", code: "context_length_exceeded" },
      )
    : new OpenAIRefusal(
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        {
          param: "input",
          code: "context_length_exceeded",
        },
      );
}

/** Refuses a request whose output does not fit into the window, in vLLM's words. */
function checkRoom(tokens: number, window: number | undefined, body: Raw): void {
  const asked = Number(body.max_completion_tokens ?? body.max_tokens ?? 0);
  if (window === undefined || tokens + asked <= window) return;
  throw new OpenAIRefusal(
    400,
    `This model's maximum context length is ${window} tokens. However, you requested ${tokens + asked} tokens (${tokens} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`,
    { type: "BadRequestError" },
  );
}

type ScriptedFailure = NonNullable<ScriptedTurn["error"]>;

const TYPES: Readonly<Record<number, [type: string, code: string | null]>> = {
  401: ["invalid_request_error", "invalid_api_key"],
  403: ["invalid_request_error", "unsupported_country_region_territory"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
  500: ["server_error", null],
  503: ["server_error", "server_overloaded"],
};

function wordsOf(error: ScriptedFailure): { type: string; code: string | null; message: string } {
  const [type, code] = TYPES[error.status] ?? [
    error.status >= 500 ? "server_error" : "invalid_request_error",
    null,
  ];
  const message = error.message ?? `Scripted refusal with status ${error.status}.`;
  return error.type === undefined ? { type, code, message } : { type: error.type, code: error.type, message };
}

function refuseAsScripted(
  response: ServerResponse,
  error: ScriptedFailure,
  headers: Record<string, string>,
): void {
  const { message, type, code } = wordsOf(error);
  const more =
    error.retryAfter === undefined ? headers : { ...headers, "retry-after": String(error.retryAfter) };
  json(response, error.status, { error: { message, type, param: null, code } }, more);
}

function errorFrames(turn: ScriptedTurn, answer: ChatAnswer, chat: boolean): string[] {
  if (!turn.error) return [];
  const { message, type, code } = wordsOf(turn.error);
  if (chat) return [`data: ${JSON.stringify({ error: { message, type, param: null, code } })}\n\n`];
  const at = (turn.error.afterEvents ?? 0) + 1;
  const response = {
    id: answer.id,
    object: "response",
    created_at: answer.created,
    status: "failed",
    model: answer.model,
    output: [],
    error: { code: code ?? type, message },
  };
  return [
    `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: at, code: code ?? type, message, param: null })}\n\n`,
    `event: response.failed\ndata: ${JSON.stringify({ type: "response.failed", sequence_number: at + 1, response })}\n\n`,
  ];
}
