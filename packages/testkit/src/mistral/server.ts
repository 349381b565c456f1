import type { ServerResponse } from "node:http";
import { type FakeServer, json, listen, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import type { Script, ScriptedTurn } from "../script.ts";
import { pieces, playFrames, readTurns, roughTokens } from "../turns.ts";
import { checkMistral, MistralRefusal, refusal } from "./check.ts";

/** Options of a fake Mistral API. */
export interface MistralOptions {
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

/** A running fake server. Mistral's SDK takes `url`, without `/v1`, as its server. */
export interface FakeMistral extends FakeServer {
  /** Every request so far, including refused ones. */
  readonly requests: readonly SeenRequest[];
}

/**
 * Serves Mistral's `/v1/chat/completions` from a script, with and without streaming. Refuses the same requests as
 * Mistral.
 */
export async function startMistral(options: MistralOptions): Promise<FakeMistral> {
  const turns = readTurns(options.script);
  const requests: SeenRequest[] = [];
  let serial = 0;
  const newId = (length: number): string => (++serial).toString(36).padStart(length, "a");

  const fakeServer = await listen(async (request, response) => {
    requests.push(request);
    const headers = { "mistral-correlation-id": newId(32) };
    try {
      await answer(request, response, headers);
    } catch (error) {
      if (!(error instanceof MistralRefusal)) throw error;
      json(response, error.status, error.body, headers);
    }
  }, options.port);

  async function answer(
    request: SeenRequest,
    response: ServerResponse,
    headers: Record<string, string>,
  ): Promise<void> {
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      throw new MistralRefusal(401, { detail: "Unauthorized" });
    }
    if (request.method !== "POST" || request.path !== "/v1/chat/completions") {
      throw new MistralRefusal(404, { message: "no Route matched with those values" });
    }
    const body = parse(request.text);
    checkMistral(body);
    const model = String(body.model);
    if (options.models && !options.models.includes(model)) {
      throw refusal(400, `Invalid model: ${model}`, "invalid_model", "1500");
    }
    const inputTokens = roughTokens(request.text);
    if (options.contextWindow !== undefined && inputTokens > options.contextWindow) {
      throw refusal(
        400,
        `Prompt contains ${inputTokens} tokens and 0 draft tokens, too large for model with ${options.contextWindow} maximum context length`,
        "invalid_request_prompt",
        "3051",
      );
    }
    const turn = await turns.next(body);
    if (turn.error && turn.error.afterEvents === undefined) {
      const more: Record<string, string> =
        turn.error.retryAfter === undefined ? {} : { "retry-after": String(turn.error.retryAfter) };
      json(response, turn.error.status, scriptedError(turn.error), { ...headers, ...more });
      return;
    }
    const base = { id: newId(32), created: Math.floor(request.at / 1000), model };
    const calls = (turn.toolCalls ?? []).map((call, index) => ({
      id: call.id ?? newId(9),
      index,
      function: { name: call.name, arguments: call.inputText ?? JSON.stringify(call.input) },
    }));
    const said = { base, calls, usage: usageOf(turn, inputTokens) };
    if (body.stream !== true) {
      json(response, 200, completion(turn, said), headers);
      return;
    }
    const errorFrames = turn.error ? [`data: ${JSON.stringify(scriptedError(turn.error))}\n\n`] : [];
    await playFrames(response, frames(turn, said), turn, { headers, errorFrames });
  }

  return { ...fakeServer, requests };
}

interface Said {
  readonly base: Raw;
  readonly calls: readonly { id: string; index: number; function: { name: string; arguments: string } }[];
  readonly usage: Raw;
}

function parse(text: string): Raw {
  try {
    const body: unknown = JSON.parse(text);
    if (isRaw(body)) return body;
  } catch {}
  throw new MistralRefusal(422, {
    object: "error",
    message: { detail: [{ type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {} }] },
    type: "invalid_request_error",
    param: null,
    code: null,
  });
}

const WORDS: Readonly<Record<number, [type: string, code: string | null]>> = {
  401: ["invalid_api_key", null],
  429: ["rate_limited", "1300"],
  500: ["internal_server_error", "1000"],
  503: ["service_unavailable", "1100"],
};

function scriptedError(error: NonNullable<ScriptedTurn["error"]>): Raw {
  const [type, code] = WORDS[error.status] ?? ["invalid_request_error", null];
  const message =
    error.message ??
    (error.status === 429 ? "Rate limit exceeded" : `Scripted refusal with status ${error.status}.`);
  return {
    object: "error",
    message,
    type: error.type ?? type,
    param: null,
    code,
    raw_status_code: error.status,
  };
}

function usageOf(turn: ScriptedTurn, inputTokens: number): Raw {
  const input = turn.usage?.input ?? inputTokens;
  const text = `${turn.thinking ?? ""}${turn.text ?? ""}${turn.toolCalls ? JSON.stringify(turn.toolCalls) : ""}`;
  const output = turn.usage?.output ?? roughTokens(text);
  const cached = turn.usage?.cacheRead;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined
      ? {}
      : { num_cached_tokens: cached, prompt_tokens_details: { cached_tokens: cached } }),
  };
}

function finishReason(turn: ScriptedTurn): string {
  return turn.stopReason ?? (turn.toolCalls?.length ? "tool_calls" : "stop");
}

/** Mistral streams each tool call in one chunk. Text is a string or, after thinking, a list of parts. */
function frames(turn: ScriptedTurn, said: Said): string[] {
  const out: string[] = [];
  const chunk = (delta: Raw, finish: string | null = null, usage?: Raw): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const event = { ...said.base, object: "chat.completion.chunk", choices, ...(usage ? { usage } : {}) };
    out.push(`data: ${JSON.stringify(event)}\n\n`);
  };
  chunk({ role: "assistant", content: "" });
  for (const text of pieces(turn.thinking ?? "", turn.chunks)) {
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] });
  }
  for (const text of pieces(turn.text ?? "", turn.chunks)) {
    chunk({ content: turn.thinking ? [{ type: "text", text }] : text });
  }
  if (said.calls.length > 0) chunk({ content: "", tool_calls: said.calls }, finishReason(turn), said.usage);
  else chunk({ content: "" }, finishReason(turn), said.usage);
  out.push("data: [DONE]\n\n");
  return out;
}

function completion(turn: ScriptedTurn, said: Said): Raw {
  const thinking = { type: "thinking", thinking: [{ type: "text", text: turn.thinking }] };
  const content = turn.thinking ? [thinking, { type: "text", text: turn.text ?? "" }] : (turn.text ?? "");
  const message = { role: "assistant", content, tool_calls: said.calls.length > 0 ? said.calls : null };
  return {
    ...said.base,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finishReason(turn) }],
    usage: said.usage,
  };
}
