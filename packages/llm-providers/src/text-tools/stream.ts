import type { Block, ModelEvent, StreamModel, TextBlock } from "@signalbox/agent-core";
import { Speech } from "../shared/speech.ts";
import type { TurnWriter } from "../turn/record.ts";
import { Replay, replayStream } from "../turn/replay.ts";
import { modelTurn, NO_TIMEOUTS } from "../turn/turn.ts";
import { CallScanner, type ScanSink, type TextCall } from "./parse.ts";
import { RESULT_OPEN, textContext } from "./write.ts";

/** Splits a model's text into text blocks and tool calls. */
class TextCallReader {
  readonly #turn: TurnWriter;
  readonly #idPrefix: string;
  readonly #replay: Replay;
  /** The index of the current text block in the wrapped stream. */
  #reading: number | undefined;
  #scanner: CallScanner | undefined;
  readonly #speech: Speech;
  #calls = 0;
  #blocks = 0;

  constructor(turn: TurnWriter, idPrefix: string) {
    this.#turn = turn;
    this.#idPrefix = idPrefix;
    this.#replay = new Replay(turn);
    this.#speech = new Speech(turn);
  }

  readonly #sink: ScanSink = {
    text: (text) => this.#speech.say("text", text),
    call: (found) => this.#call(found),
    invented: () => {
      // Does not wait for the rest of the answer or for the vendor's usage at its end.
      this.#turn.estimate();
      this.#turn.finish("tool_use");
    },
  };

  #call({ name, argsText, error: argsError }: TextCall): void {
    this.#speech.end();
    const call = { type: "toolCall", id: `${this.#idPrefix}_${++this.#calls}`, name } as const;
    if (argsError !== undefined) {
      this.#turn.block({ ...call, args: undefined, argsText, argsError });
      return;
    }
    const index = this.#turn.open(call);
    this.#turn.append(index, argsText);
    this.#turn.close(index);
  }

  event(event: ModelEvent): void {
    if (event.type === "block.start") this.#blocks++;
    if (event.type === "block.start" && event.block.type === "text") {
      this.#reading = event.index;
      this.#scanner = new CallScanner(this.#sink);
    } else if (event.type === "text.delta" && event.index === this.#reading) {
      this.#scanner?.push(event.delta);
    } else if (event.type === "block.end" && event.index === this.#reading) {
      this.#reading = undefined;
      this.#scanner?.end();
      // The text turned out to be reasoning.
      if (event.block.type === "thinking") this.#speech.endAs("thinking");
      else this.#speech.end();
    } else if (event.type === "block.end" && event.block.type === "text") {
      this.#converted(event.index, event.block);
    } else if (event.type === "finish") {
      const { content, stopReason, rawStopReason, responseId } = event.message;
      this.#turn.responseId(responseId);
      for (const block of content.slice(this.#blocks)) this.#whole(block);
      const ended = stopReason === "end_turn" || stopReason === "stop_sequence";
      this.#turn.finish(this.#calls > 0 && ended ? "tool_use" : stopReason, rawStopReason);
    } else {
      this.#replay.event(event);
    }
  }

  /** Handles reasoning that turned out to be text. If it contains calls, the text before them remains reasoning. */
  #converted(index: number, block: TextBlock): void {
    const calls: TextCall[] = [];
    const scanner = new CallScanner({
      text: () => {},
      call: (found) => calls.push(found),
      invented: () => {},
    });
    scanner.push(block.text);
    scanner.end();
    const { text } = block;
    this.#replay.event({
      type: "block.end",
      index,
      block: calls.length > 0 ? { type: "thinking", text } : block,
    });
    for (const found of calls) this.#call(found);
  }

  /** Handles a block that arrives only in the last event. */
  #whole(block: Block): void {
    const index = this.#blocks;
    if (block.type !== "text") {
      this.#turn.block(block);
      return;
    }
    this.event({ type: "block.start", index, block: { type: "text" } });
    this.event({ type: "text.delta", index, delta: block.text });
    this.event({ type: "block.end", index, block });
  }
}

/**
 * Adds tool calls to a model that does not support them. The system prompt describes the tools, calls are parsed from
 * the text as it streams, and results are sent as text. A malformed call gets an `argsError`, so that the model can
 * correct it.
 *
 * @param now milliseconds since the epoch
 */
export function withTextTools(stream: StreamModel, now: () => number = Date.now): StreamModel {
  return (model, context, options = {}) =>
    modelTurn({ model, context, options, timeouts: NO_TIMEOUTS, now }, async function* (turn) {
      const { toolChoice, json, ...rest } = options;
      const mayCall = context.tools.length > 0;
      const stops = mayCall ? { stopSequences: [...(options.stopSequences ?? []), RESULT_OPEN] } : {};
      if (mayCall && json !== undefined)
        turn.warn("json_dropped", "A model that calls tools in its text cannot be restricted to JSON.");
      const format = mayCall || json === undefined ? {} : { json };
      const reader = new TextCallReader(turn, `call_${context.messages.length}`);
      const asked = textContext(context, toolChoice);
      const open = () => stream(model, asked, { ...rest, ...format, signal: turn.signal, ...stops });
      yield* replayStream(open, reader);
    });
}
