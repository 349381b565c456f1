import type { Block, BlockHead } from "../content.ts";
import type { AssistantMessage, Message } from "../messages.ts";
import type { Model, ModelContext, ModelEvent, StreamModel, StreamOptions } from "../model.ts";
import { toStream } from "../to-stream.ts";
import { assistantMessage } from "./messages.ts";

/** A request to a scripted model. */
export interface ScriptedRequest {
  readonly model: Model;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  readonly messages: readonly Message[];
}

/** A text, a complete turn, or a function that returns one for a request. A stream is passed on unchanged. */
export type ScriptedTurn =
  | string
  | AssistantMessage
  | ((request: ScriptedRequest) => string | AssistantMessage | AsyncIterable<ModelEvent>);

export interface ScriptedModel {
  readonly stream: StreamModel;
  /** The requests, in order. */
  readonly requests: readonly ScriptedRequest[];
}

/**
 * Creates a model that returns these turns, one per request, and then repeats the last one. It records its requests.
 *
 * @example
 * ```ts
 * const { stream, requests } = scriptedModel(assistantMessage([toolCall("1", "search", { q: "tea" })]), "Done.");
 * ```
 */
export function scriptedModel(...turns: readonly ScriptedTurn[]): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  const stream: StreamModel = (model, context, options = {}) => {
    const request = { model, context, options, messages: context.messages };
    const turn = turns[Math.min(requests.length, turns.length - 1)];
    requests.push(request);
    if (turn === undefined) throw new Error("A scripted model needs a turn.");
    const made = typeof turn === "function" ? turn(request) : turn;
    if (typeof made === "string") return toStream(toEvents(assistantMessage(made)));
    return "role" in made ? toStream(toEvents(made)) : made;
  };
  return { stream, requests };
}

/** Returns the events of a vendor's stream for a turn. Each text is split into `pieces` deltas. */
export function* toEvents(message: AssistantMessage, pieces = 2): Generator<ModelEvent> {
  const { api, provider, model, usage, error } = message;
  yield { type: "start", request: { api, provider, model }, warnings: [] };
  for (const [index, block] of message.content.entries()) {
    yield { type: "block.start", index, block: getHead(block) };
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

function getHead(block: Block): BlockHead {
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
