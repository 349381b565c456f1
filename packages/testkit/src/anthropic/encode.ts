import type { ScriptedTurn } from "../script.ts";
import { signThinking } from "./blocks.ts";

/** A turn in the vendor's shape, not yet on the wire. */
export interface EncodedTurn {
  /** Each server-sent event as it goes over the wire. */
  readonly events: readonly Buffer[];
  /** The same turn as a non-streamed answer. */
  readonly message: Readonly<Record<string, unknown>>;
  /** Ids of the tool calls in it. */
  readonly callIds: readonly string[];
}

/** Cuts text into at most `count` pieces without splitting a character. */
function pieces(text: string, count: number): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / Math.max(1, count)));
  const out: string[] = [];
  for (let at = 0; at < characters.length; at += size) out.push(characters.slice(at, at + size).join(""));
  return out;
}

/** One server-sent event. */
export function sse(data: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(`event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Puts a scripted turn in the vendor's terms. */
export function encodeTurn(turn: ScriptedTurn, model: string, serial: number): EncodedTurn {
  const count = turn.chunks ?? 4;
  const id = `msg_standin${String(serial).padStart(6, "0")}`;
  const usage = {
    input_tokens: turn.usage?.input ?? 10,
    cache_creation_input_tokens: turn.usage?.cacheWrite ?? 0,
    cache_read_input_tokens: turn.usage?.cacheRead ?? 0,
    cache_creation: {
      ephemeral_5m_input_tokens: turn.usage?.cacheWrite ?? 0,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: 1,
    service_tier: "standard",
  };
  const output = turn.usage?.output ?? 15;
  const head = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const events: Buffer[] = [sse({ type: "message_start", message: head })];
  const content: Record<string, unknown>[] = [];
  const callIds: string[] = [];
  const block = (
    start: Record<string, unknown>,
    deltas: Record<string, unknown>[],
    whole: Record<string, unknown>,
  ) => {
    const index = content.length;
    events.push(sse({ type: "content_block_start", index, content_block: start }));
    if (index === 0) events.push(sse({ type: "ping" }));
    for (const delta of deltas) events.push(sse({ type: "content_block_delta", index, delta }));
    events.push(sse({ type: "content_block_stop", index }));
    content.push(whole);
  };

  if (turn.thinking !== undefined) {
    const signature = signThinking(turn.thinking);
    block(
      { type: "thinking", thinking: "", signature: "" },
      [
        ...pieces(turn.thinking, count).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature },
      ],
      { type: "thinking", thinking: turn.thinking, signature },
    );
  }
  if (turn.text !== undefined)
    block(
      { type: "text", text: "" },
      pieces(turn.text, count).map((text) => ({ type: "text_delta", text })),
      { type: "text", text: turn.text },
    );
  (turn.toolCalls ?? []).forEach((call, i) => {
    const callId = call.id ?? `toolu_standin${String(serial).padStart(6, "0")}x${i}`;
    const json = call.inputText ?? JSON.stringify(call.input);
    callIds.push(callId);
    block(
      { type: "tool_use", id: callId, name: call.name, input: {} },
      ["", ...pieces(json, count)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
      { type: "tool_use", id: callId, name: call.name, input: call.input },
    );
  });

  const stop_reason = turn.stopReason ?? (callIds.length > 0 ? "tool_use" : "end_turn");
  events.push(
    sse({
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: output },
    }),
    sse({ type: "message_stop" }),
  );
  const message = { ...head, content, stop_reason, usage: { ...usage, output_tokens: output } };
  return { events, message, callIds };
}
