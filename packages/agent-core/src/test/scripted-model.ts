import type { Block, BlockHead } from "../content.ts";
import type { AssistantMessage, Message } from "../messages.ts";
import type { Model, ModelContext, ModelEvent, StreamModel, StreamOptions } from "../model.ts";
import { streamOf } from "../stream-of.ts";
import { assistantMessage } from "./messages.ts";

/** One request a scripted model got. */
export interface ScriptedRequest {
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly messages: readonly Message[];
}

/** A turn: a text, a whole turn, or what makes one of the request. A stream of its own is passed on as it is. */
export type ScriptedTurn =
  | string
  | AssistantMessage
  | ((request: ScriptedRequest) => string | AssistantMessage | AsyncIterable<ModelEvent>);

export interface ScriptedModel {
  readonly stream: StreamModel;
  /** What the model was asked, in order. */
  readonly requests: readonly ScriptedRequest[];
}

/** A model that gives these turns, one a request, the last one again for ever, and keeps what it was asked. */
export function scriptedModel(...turns: readonly ScriptedTurn[]): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  const stream: StreamModel = (model, context, options = {}) => {
    const request = { model, context, options, messages: context.messages };
    const turn = turns[Math.min(requests.length, turns.length - 1)];
    requests.push(request);
    if (turn === undefined) throw new Error("A scripted model needs a turn.");
    const made = typeof turn === "function" ? turn(request) : turn;
    if (typeof made === "string") return streamOf(eventsOf(assistantMessage(made)));
    return "role" in made ? streamOf(eventsOf(made)) : made;
  };
  return { stream, requests };
}

/** The events a vendor's stream would give for a turn, each text in `pieces` deltas. */
export function* eventsOf(message: AssistantMessage, pieces = 2): Generator<ModelEvent> {
  const { api, provider, model, usage, error } = message;
  yield { type: "start", request: { api, provider, model }, warnings: [] };
  for (const [index, block] of message.content.entries()) {
    yield { type: "block.start", index, block: headOf(block) };
    if (block.type === "toolCall") yield { type: "tool.delta", index, delta: block.argsText };
    if (block.type === "text" || block.type === "thinking") {
      const type = block.type === "text" ? "text.delta" : "thinking.delta";
      for (const delta of inPieces(block.text, pieces)) yield { type, index, delta };
    }
    yield { type: "block.end", index, block };
  }
  if (usage !== undefined) yield { type: "usage", usage };
  if (error !== undefined) yield { type: "error", error, partial: message };
  else yield { type: "finish", message };
}

function headOf(block: Block): BlockHead {
  return block.type === "toolCall"
    ? { type: "toolCall", id: block.id, name: block.name }
    : { type: block.type };
}

function inPieces(text: string, pieces: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    text.slice(i * size, (i + 1) * size),
  );
}
