import type { ModelEvent, StreamModel, StreamOptions } from "@signalbox/agent-core";
import { iterableSource } from "../stream/source.ts";
import { modelTurn, type TurnWriter } from "../stream/turn.ts";
import { CallScanner, type ScanSink } from "./parse.ts";
import { RESULT_OPEN, TextHistory, textContext } from "./write.ts";

/** Turns a model's text with calls in it into text blocks and tool call blocks. */
class TextCallReader {
  readonly #turn: TurnWriter;
  readonly #idPrefix: string;
  readonly #open = new Map<number, number>();
  #scanner: CallScanner | undefined;
  #textIndex: number | undefined;
  #calls = 0;

  constructor(turn: TurnWriter, idPrefix: string) {
    this.#turn = turn;
    this.#idPrefix = idPrefix;
  }

  readonly #sink: ScanSink = {
    text: (text) => {
      this.#textIndex ??= this.#turn.open({ type: "text" });
      this.#turn.text(this.#textIndex, text);
    },
    call: (call) => {
      this.#closeText();
      const id = `${this.#idPrefix}_${++this.#calls}`;
      if (call.error !== undefined) {
        const { name, argsText, error } = call;
        this.#turn.block({ type: "toolCall", id, name, args: undefined, argsText, argsError: error });
        return;
      }
      const index = this.#turn.open({ type: "toolCall", id, name: call.name });
      this.#turn.args(index, call.argsText);
      this.#turn.close(index);
    },
    invented: () => {
      this.#turn.finish("tool_use");
    },
  };

  #closeText(): void {
    if (this.#textIndex !== undefined) this.#turn.close(this.#textIndex);
    this.#textIndex = undefined;
  }

  readonly event = (event: ModelEvent): void => {
    const turn = this.#turn;
    switch (event.type) {
      case "start":
        for (const warning of event.warnings) turn.warn(warning.code, warning.message);
        turn.start(event.request.requestId);
        break;
      case "block.start":
        if (event.block.type === "text") this.#scanner = new CallScanner(this.#sink);
        else if (event.block.type === "thinking" || event.block.type === "toolCall")
          this.#open.set(event.index, turn.open(event.block));
        break;
      case "text.delta":
        this.#scanner?.push(event.delta);
        break;
      case "thinking.delta":
        turn.thinking(this.#open.get(event.index) ?? -1, event.delta);
        break;
      case "tool.delta":
        turn.args(this.#open.get(event.index) ?? -1, event.delta);
        break;
      case "block.end": {
        const opened = this.#open.get(event.index);
        if (event.block.type === "text") {
          this.#scanner?.end();
          this.#scanner = undefined;
          this.#closeText();
        } else if (opened !== undefined) {
          turn.close(opened, event.block.native);
        } else {
          turn.block(event.block);
        }
        break;
      }
      case "usage":
        turn.usage(event.usage);
        break;
      case "attempt":
        break;
      case "finish": {
        const { stopReason, rawStopReason, responseId } = event.message;
        if (responseId !== undefined) turn.responseId(responseId);
        const ended = stopReason === "end_turn" || stopReason === "stop_sequence";
        turn.finish(this.#calls > 0 && ended ? "tool_use" : stopReason, rawStopReason);
        break;
      }
      case "error":
        turn.fail(event.error, event.partial.stopReason);
        break;
    }
  };
}

/**
 * Tool calls for models without them: the tools are described in the system prompt, calls are read from the text as
 * it streams, results go back as text. A call that cannot be read becomes one with `argsError`, which the model is
 * told about and can mend.
 */
export function withTextTools(stream: StreamModel): StreamModel {
  const history = new TextHistory();
  return (model, context, options = {}) =>
    modelTurn({ model, options, timeouts: { firstByteMs: 0x7fffffff, idleMs: 0x7fffffff } }, async (turn) => {
      const { toolChoice, ...rest } = options;
      const inner: StreamOptions = {
        ...rest,
        signal: turn.signal,
        ...(context.tools.length > 0
          ? { stopSequences: [...(options.stopSequences ?? []), RESULT_OPEN] }
          : {}),
      };
      const reader = new TextCallReader(turn, `call_${context.messages.length}`);
      return iterableSource(stream(model, textContext(context, history, toolChoice), inner), reader.event);
    });
}
