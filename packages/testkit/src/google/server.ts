import type { ServerResponse } from "node:http";
import { type FakeServer, json, listen, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import type { Script, ScriptedTurn } from "../script.ts";
import { pieces, playFrames, readTurns, roughTokens } from "../turns.ts";
import { checkGoogle, GoogleRefusal, invalid } from "./check.ts";

/** Options of a fake Gemini API. */
export interface GoogleOptions {
  readonly script: Script;
  /** The only accepted key. Absent: any key, or none. */
  readonly apiKey?: string;
  /** The only available models. Absent: all. */
  readonly models?: readonly string[];
  /** Maximum number of input tokens, estimated as four characters each. Default: no limit. */
  readonly contextWindow?: number;
  /** Default: 0, which selects a free port. */
  readonly port?: number;
}

/** A running fake server. Google's SDK takes `url`, without `/v1beta`, as its base URL. */
export interface FakeGoogle extends FakeServer {
  /** Every request so far, including refused ones. */
  readonly requests: readonly SeenRequest[];
}

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(streamGenerateContent|generateContent)(?:\?(.*))?$/;

/**
 * Serves `/v1beta/models/{id}:streamGenerateContent` (also under `/v1`) and `:generateContent` from a script. Refuses
 * the same requests as the Gemini API.
 */
export async function startGoogle(options: GoogleOptions): Promise<FakeGoogle> {
  const turns = readTurns(options.script);
  const requests: SeenRequest[] = [];
  const issued = new Set<string>();
  let serial = 0;
  const newId = (): string => (++serial).toString(36).padStart(16, "A");

  const fakeServer = await listen(async (request, response) => {
    requests.push(request);
    try {
      await answer(request, response);
    } catch (error) {
      if (!(error instanceof GoogleRefusal)) throw error;
      json(response, error.code, error.body());
    }
  }, options.port);

  async function answer(request: SeenRequest, response: ServerResponse): Promise<void> {
    const [, model = "", method, query] = PATH.exec(request.path) ?? [];
    if (request.method !== "POST" || !method)
      throw new GoogleRefusal(404, "NOT_FOUND", "Requested entity was not found.");
    const search = new URLSearchParams(query);
    checkKey(request.headers["x-goog-api-key"] ?? search.get("key") ?? undefined, options.apiKey);
    if (options.models && !options.models.includes(model)) {
      throw new GoogleRefusal(
        404,
        "NOT_FOUND",
        `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`,
      );
    }
    const body = parse(request.text);
    checkGoogle(body, model, issued);
    const inputTokens = roughTokens(request.text);
    if (options.contextWindow !== undefined && inputTokens > options.contextWindow) {
      throw invalid(
        `The input token count (${inputTokens}) exceeds the maximum number of tokens allowed (${options.contextWindow}).`,
      );
    }
    const turn = await turns.next(body);
    if (turn.error && turn.error.afterEvents === undefined) {
      const more: Record<string, string> =
        turn.error.retryAfter === undefined ? {} : { "retry-after": String(turn.error.retryAfter) };
      json(response, turn.error.status, scriptedError(turn.error).body(), more);
      return;
    }
    const config = isRaw(body.generationConfig) ? body.generationConfig : {};
    const thoughts = isRaw(config.thinkingConfig) && config.thinkingConfig.includeThoughts === true;
    const said = {
      turn,
      model,
      thoughts,
      inputTokens,
      responseId: newId(),
      sign: () => sign(issued, newId()),
    };
    if (method === "generateContent") {
      json(response, 200, whole(said));
      return;
    }
    const chunks = stream(said);
    if (search.get("alt") !== "sse") {
      json(response, 200, chunks);
      return;
    }
    const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`);
    const errorFrames = turn.error
      ? [`data: ${JSON.stringify(scriptedError(turn.error).body())}\r\n\r\n`]
      : [];
    await playFrames(response, frames, turn, { errorFrames });
  }

  return { ...fakeServer, requests };
}

function sign(issued: Set<string>, id: string): string {
  const signature = Buffer.from(`signature ${id}`).toString("base64");
  issued.add(signature);
  return signature;
}

function parse(text: string): Raw {
  try {
    const body: unknown = JSON.parse(text);
    if (isRaw(body)) return body;
  } catch {}
  throw invalid("Invalid JSON payload received. Unexpected token.");
}

function checkKey(key: string | string[] | undefined, apiKey: string | undefined): void {
  if (apiKey === undefined || key === apiKey) return;
  if (key === undefined || key === "") {
    throw new GoogleRefusal(
      403,
      "PERMISSION_DENIED",
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    );
  }
  throw invalid("API key not valid. Please pass a valid API key.", [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "API_KEY_INVALID",
      domain: "googleapis.com",
      metadata: { service: "generativelanguage.googleapis.com" },
    },
  ]);
}

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function scriptedError(error: NonNullable<ScriptedTurn["error"]>): GoogleRefusal {
  const status = error.type ?? STATUS[error.status] ?? "UNKNOWN";
  const message =
    error.message ??
    (error.status === 503
      ? "The model is overloaded. Please try again later."
      : `Scripted refusal with status ${error.status}.`);
  const details =
    error.retryAfter === undefined
      ? undefined
      : [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${error.retryAfter}s` }];
  return new GoogleRefusal(error.status, status, message, details);
}

interface Said {
  readonly turn: ScriptedTurn;
  readonly model: string;
  readonly thoughts: boolean;
  readonly inputTokens: number;
  readonly responseId: string;
  readonly sign: () => string;
}

function usageOf({ turn, inputTokens }: Said): Raw {
  const prompt = turn.usage?.input ?? inputTokens;
  const text = `${turn.text ?? ""}${turn.toolCalls ? JSON.stringify(turn.toolCalls) : ""}`;
  const thoughts = roughTokens(turn.thinking ?? "");
  const candidates = turn.usage?.output === undefined ? roughTokens(text) : turn.usage.output - thoughts;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates + thoughts,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    thoughtsTokenCount: thoughts > 0 ? thoughts : undefined,
    cachedContentTokenCount: turn.usage?.cacheRead,
  };
}

function envelope(said: Said, parts: readonly Raw[], finishReason?: string): Raw {
  const content = { parts, role: "model" };
  const candidate = finishReason === undefined ? { content, index: 0 } : { content, finishReason, index: 0 };
  return {
    candidates: [candidate],
    usageMetadata: usageOf(said),
    modelVersion: said.model,
    responseId: said.responseId,
  };
}

/** Gemini sends all calls in a turn as one chunk and signs the first one. */
function callParts(said: Said): Raw[] {
  return (said.turn.toolCalls ?? []).map((call, i) => {
    const args: unknown = call.inputText === undefined ? call.input : call.inputText;
    const functionCall = { name: call.name, args, id: call.id };
    return i === 0 ? { functionCall, thoughtSignature: said.sign() } : { functionCall };
  });
}

function stream(said: Said): Raw[] {
  const { turn } = said;
  const finish = turn.stopReason ?? "STOP";
  const chunks: Raw[] = [];
  if (said.thoughts) {
    for (const text of pieces(turn.thinking ?? "", turn.chunks))
      chunks.push(envelope(said, [{ text, thought: true }]));
  }
  for (const text of pieces(turn.text ?? "", turn.chunks)) chunks.push(envelope(said, [{ text }]));
  const calls = callParts(said);
  if (calls.length > 0) chunks.push(envelope(said, calls));
  const last =
    turn.thinking && calls.length === 0 ? { text: "", thoughtSignature: said.sign() } : { text: "" };
  chunks.push(envelope(said, [last], finish));
  return chunks;
}

function whole(said: Said): Raw {
  const { turn } = said;
  const parts: Raw[] = [];
  if (said.thoughts && turn.thinking) parts.push({ text: turn.thinking, thought: true });
  if (turn.text) parts.push({ text: turn.text });
  parts.push(...callParts(said));
  return envelope(said, parts, turn.stopReason ?? "STOP");
}
