import type { ScriptedTurn } from "../script.ts";
import { signThinking } from "./blocks.ts";

/** A turn in the vendor's format, before it is sent. */
export interface EncodedTurn {
  /** Server-sent events as bytes. */
  readonly events: readonly Buffer[];
  /** The same turn as a response without streaming. */
  readonly message: Readonly<Record<string, unknown>>;
  /** Ids of the turn's tool calls. */
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

/** Formats a server-sent event. */
export function sse(data: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(`event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`);
}

type Fields = Readonly<Record<string, unknown>>;

/** Collects the events of a message and the resulting message. */
class Encoding {
  readonly events: Buffer[];
  readonly content: Fields[] = [];

  constructor(head: Fields) {
    this.events = [sse({ type: "message_start", message: head })];
  }

  block(start: Fields, deltas: readonly Fields[], whole: Fields): void {
    const index = this.content.length;
    this.events.push(sse({ type: "content_block_start", index, content_block: start }));
    if (index === 0) this.events.push(sse({ type: "ping" }));
    for (const delta of deltas) this.events.push(sse({ type: "content_block_delta", index, delta }));
    this.events.push(sse({ type: "content_block_stop", index }));
    this.content.push(whole);
  }

  end(stop_reason: string, output_tokens: number): void {
    const delta = { stop_reason, stop_sequence: null };
    this.events.push(sse({ type: "message_delta", delta, usage: { output_tokens } }));
    this.events.push(sse({ type: "message_stop" }));
  }
}

function headOf({ usage }: ScriptedTurn, model: string, serial: string) {
  return {
    id: `msg_fake${serial}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage?.input ?? 10,
      cache_creation_input_tokens: usage?.cacheWrite ?? 0,
      cache_read_input_tokens: usage?.cacheRead ?? 0,
      cache_creation: { ephemeral_5m_input_tokens: usage?.cacheWrite ?? 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      service_tier: "standard",
    },
  };
}

/** Converts a scripted turn to the vendor's format. */
export function encodeTurn(turn: ScriptedTurn, model: string, number: number): EncodedTurn {
  const { thinking, text, toolCalls = [], chunks = 4 } = turn;
  const serial = String(number).padStart(6, "0");
  const head = headOf(turn, model, serial);
  const encoding = new Encoding(head);
  const callIds: string[] = [];
  if (thinking !== undefined) {
    const signature = signThinking(thinking);
    encoding.block(
      { type: "thinking", thinking: "", signature: "" },
      [
        ...pieces(thinking, chunks).map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature },
      ],
      { type: "thinking", thinking, signature },
    );
  }
  if (text !== undefined)
    encoding.block(
      { type: "text", text: "" },
      pieces(text, chunks).map((piece) => ({ type: "text_delta", text: piece })),
      { type: "text", text },
    );
  for (const [index, call] of toolCalls.entries()) {
    const id = call.id ?? `toolu_fake${serial}x${index}`;
    const json = call.inputText ?? JSON.stringify(call.input);
    callIds.push(id);
    encoding.block(
      { type: "tool_use", id, name: call.name, input: {} },
      ["", ...pieces(json, chunks)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
      { type: "tool_use", id, name: call.name, input: call.input },
    );
  }
  const stop_reason = turn.stopReason ?? (callIds.length > 0 ? "tool_use" : "end_turn");
  const output_tokens = turn.usage?.output ?? 15;
  encoding.end(stop_reason, output_tokens);
  const usage = { ...head.usage, output_tokens };
  return {
    events: encoding.events,
    message: { ...head, content: encoding.content, stop_reason, usage },
    callIds,
  };
}
