import { isRaw, type Raw } from "../raw.ts";
import type { ScriptedTurn } from "../script.ts";
import { pieces, roughTokens } from "../turns.ts";
import type { ChatAnswer } from "./chat.ts";
import type { Issued } from "./check-responses.ts";

/** Returns the frames of a streamed response, including its final object. */
export function responseFrames(
  turn: ScriptedTurn,
  answer: ChatAnswer,
  request: Raw,
  issued: Issued,
): string[] {
  const frames: string[] = [];
  let sequence = 0;
  const emit = (type: string, fields: Raw): void => {
    frames.push(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`,
    );
  };
  emit("response.created", { response: envelope(answer, request, "in_progress") });
  emit("response.in_progress", { response: envelope(answer, request, "in_progress") });
  const output = outputItems(turn, answer, request, issued);
  for (const [index, item] of output.entries()) {
    const at = { item_id: item.id, output_index: index };
    if (item.type === "reasoning") streamReasoning(emit, item, at, turn, index);
    else if (item.type === "message") streamMessage(emit, item, at, turn, index);
    else {
      emit("response.output_item.added", {
        output_index: index,
        item: { ...item, status: "in_progress", arguments: "" },
      });
      const text = String(item.arguments);
      for (const delta of pieces(text, turn.chunks))
        emit("response.function_call_arguments.delta", { ...at, delta });
      emit("response.function_call_arguments.done", { ...at, arguments: text });
      emit("response.output_item.done", { output_index: index, item });
    }
  }
  const response = finalResponse(turn, answer, request, output);
  emit(response.status === "incomplete" ? "response.incomplete" : "response.completed", { response });
  return frames;
}

/** Returns the response to a request without streaming. */
export function responseObject(turn: ScriptedTurn, answer: ChatAnswer, request: Raw, issued: Issued): Raw {
  return finalResponse(turn, answer, request, outputItems(turn, answer, request, issued));
}

type Emit = (type: string, fields: Raw) => void;

function streamReasoning(emit: Emit, item: Raw, at: Raw, turn: ScriptedTurn, index: number): void {
  emit("response.output_item.added", {
    output_index: index,
    item: { id: item.id, type: "reasoning", summary: [] },
  });
  const text = turn.thinking ?? "";
  const part = { ...at, summary_index: 0 };
  emit("response.reasoning_summary_part.added", { ...part, part: { type: "summary_text", text: "" } });
  for (const delta of pieces(text, turn.chunks))
    emit("response.reasoning_summary_text.delta", { ...part, delta });
  emit("response.reasoning_summary_text.done", { ...part, text });
  emit("response.reasoning_summary_part.done", { ...part, part: { type: "summary_text", text } });
  emit("response.output_item.done", { output_index: index, item });
}

function streamMessage(emit: Emit, item: Raw, at: Raw, turn: ScriptedTurn, index: number): void {
  const refusal = turn.stopReason === "refusal";
  const text = turn.text ?? "";
  emit("response.output_item.added", {
    output_index: index,
    item: { ...item, status: "in_progress", content: [] },
  });
  const part = { ...at, content_index: 0 };
  const empty = refusal
    ? { type: "refusal", refusal: "" }
    : { type: "output_text", annotations: [], logprobs: [], text: "" };
  emit("response.content_part.added", { ...part, part: empty });
  const word = refusal ? "refusal" : "output_text";
  const more = refusal ? {} : { logprobs: [] };
  for (const delta of pieces(text, turn.chunks)) emit(`response.${word}.delta`, { ...part, delta, ...more });
  emit(`response.${word}.done`, { ...part, ...(refusal ? { refusal: text } : { text }), ...more });
  const content: unknown = item.content;
  emit("response.content_part.done", { ...part, part: Array.isArray(content) ? content[0] : empty });
  emit("response.output_item.done", { output_index: index, item });
}

function outputItems(turn: ScriptedTurn, answer: ChatAnswer, request: Raw, issued: Issued): Raw[] {
  const items: Raw[] = [];
  let reasoningId: string | undefined;
  if (turn.thinking) {
    reasoningId = answer.newId("rs_");
    const item: Raw = {
      id: reasoningId,
      type: "reasoning",
      summary: [{ type: "summary_text", text: turn.thinking }],
    };
    if (Array.isArray(request.include) && request.include.includes("reasoning.encrypted_content")) {
      const sealed = `gAAAAA${Buffer.from(`${reasoningId}:${turn.thinking}`).toString("base64url")}`;
      issued.encrypted.add(sealed);
      item.encrypted_content = sealed;
    }
    items.push(item);
  }
  const follow = (item: Raw): void => {
    if (reasoningId !== undefined && typeof item.id === "string")
      issued.reasoningOf.set(item.id, reasoningId);
    reasoningId = undefined;
    items.push(item);
  };
  if (turn.text !== undefined) {
    const part =
      turn.stopReason === "refusal"
        ? { type: "refusal", refusal: turn.text }
        : { type: "output_text", annotations: [], logprobs: [], text: turn.text };
    follow({
      id: answer.newId("msg_"),
      type: "message",
      status: "completed",
      role: "assistant",
      content: [part],
    });
  }
  for (const call of turn.toolCalls ?? []) {
    follow({
      id: answer.newId("fc_"),
      type: "function_call",
      status: "completed",
      call_id: call.id ?? answer.newId("call_"),
      name: call.name,
      arguments: call.inputText ?? JSON.stringify(call.input),
    });
  }
  return items;
}

function envelope(answer: ChatAnswer, request: Raw, status: string): Raw {
  return {
    id: answer.id,
    object: "response",
    created_at: answer.created,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: answer.model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: isRaw(request.reasoning) ? request.reasoning : { effort: null, summary: null },
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: {},
  };
}

function finalResponse(turn: ScriptedTurn, answer: ChatAnswer, request: Raw, output: readonly Raw[]): Raw {
  const cut = turn.stopReason === "max_output_tokens" || turn.stopReason === "content_filter";
  const reasoning = roughTokens(turn.thinking ?? "");
  const input = turn.usage?.input ?? answer.inputTokens;
  const said = roughTokens(`${turn.text ?? ""}${turn.toolCalls ? JSON.stringify(turn.toolCalls) : ""}`);
  const total = turn.usage?.output ?? said + reasoning;
  return {
    ...envelope(answer, request, cut ? "incomplete" : "completed"),
    incomplete_details: cut ? { reason: turn.stopReason } : null,
    output,
    usage: {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: turn.usage?.cacheRead ?? 0,
        cache_write_tokens: turn.usage?.cacheWrite,
      },
      output_tokens: total,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + total,
    },
  };
}
