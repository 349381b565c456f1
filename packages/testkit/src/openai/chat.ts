import type { Raw } from "../raw.ts";
import type { ScriptedTurn } from "../script.ts";
import { pieces, roughTokens } from "../turns.ts";

/** Format of a server's chat responses. */
export interface ChatVoice {
  /** Field for reasoning. OpenAI has none and omits it. */
  readonly reasoningField: string | undefined;
  /** Sends usage in a stream always, on request (`asked`) or never. */
  readonly usage: "always" | "asked" | "never";
}

/** Contents of a response. */
export interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly inputTokens: number;
  readonly newId: (prefix: string) => string;
}

function finishReason(turn: ScriptedTurn): string {
  if (turn.stopReason === "refusal") return "stop";
  return turn.stopReason ?? (turn.toolCalls?.length ? "tool_calls" : "stop");
}

function toolCalls(turn: ScriptedTurn, answer: ChatAnswer): { id: string; name: string; text: string }[] {
  return (turn.toolCalls ?? []).map((call) => ({
    id: call.id ?? answer.newId("call_"),
    name: call.name,
    text: call.inputText ?? JSON.stringify(call.input),
  }));
}

function usageOf(turn: ScriptedTurn, answer: ChatAnswer): Raw {
  const input = turn.usage?.input ?? answer.inputTokens;
  const text = `${turn.text ?? ""}${turn.toolCalls ? JSON.stringify(turn.toolCalls) : ""}`;
  const reasoning = roughTokens(turn.thinking ?? "");
  const output = turn.usage?.output ?? roughTokens(text) + reasoning;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: turn.usage?.cacheRead ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Returns the frames of a streamed response, including `[DONE]`. */
export function chatFrames(turn: ScriptedTurn, answer: ChatAnswer, voice: ChatVoice, request: Raw): string[] {
  const wantsUsage =
    voice.usage === "always" ||
    (voice.usage === "asked" &&
      JSON.stringify(request.stream_options ?? null).includes('"include_usage":true'));
  const base = {
    id: answer.id,
    object: "chat.completion.chunk",
    created: answer.created,
    model: answer.model,
  };
  const frames: string[] = [];
  const chunk = (delta: Raw, finish: string | null = null): void => {
    frames.push(
      `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`,
    );
  };
  chunk({ role: "assistant", content: turn.toolCalls && !turn.text ? null : "", refusal: null });
  if (turn.thinking && voice.reasoningField) {
    for (const piece of pieces(turn.thinking, turn.chunks)) chunk({ [voice.reasoningField]: piece });
  }
  const field = turn.stopReason === "refusal" ? "refusal" : "content";
  if (turn.text) for (const piece of pieces(turn.text, turn.chunks)) chunk({ [field]: piece });
  for (const [index, call] of toolCalls(turn, answer).entries()) {
    chunk({
      tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
    });
    for (const piece of pieces(call.text, turn.chunks)) {
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  chunk({}, finishReason(turn));
  if (wantsUsage)
    frames.push(`data: ${JSON.stringify({ ...base, choices: [], usage: usageOf(turn, answer) })}\n\n`);
  frames.push("data: [DONE]\n\n");
  return frames;
}

/** Returns the response to a request without streaming. */
export function chatCompletion(turn: ScriptedTurn, answer: ChatAnswer, voice: ChatVoice): Raw {
  const refusal = turn.stopReason === "refusal";
  const calls = toolCalls(turn, answer);
  const message: Raw = {
    role: "assistant",
    content: refusal ? null : (turn.text ?? null),
    refusal: refusal ? (turn.text ?? "") : null,
    annotations: [],
  };
  if (turn.thinking && voice.reasoningField) message[voice.reasoningField] = turn.thinking;
  if (calls.length > 0) {
    message.tool_calls = calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: call.text },
    }));
  }
  return {
    id: answer.id,
    object: "chat.completion",
    created: answer.created,
    model: answer.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(turn) }],
    usage: usageOf(turn, answer),
  };
}
