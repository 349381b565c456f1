import { type ModelEvent, ValidatedStream, validateTurn } from "@signalbox/agent-core";
import { FailureError, failure } from "../failure/failure.ts";
import type { TurnWriter } from "./record.ts";

/** Writes the events of another stream to a turn. */
export class Replay {
  readonly #turn: TurnWriter;
  /** Our block indexes by the stream's block indexes. */
  readonly #indexes = new Map<number, number>();
  #blocks = 0;

  constructor(turn: TurnWriter) {
    this.#turn = turn;
  }

  /** @throws FailureError (`protocol`) if the last event contains no turn or no error message */
  event(event: ModelEvent): void {
    const turn = this.#turn;
    switch (event.type) {
      case "start":
        for (const { code, message } of event.warnings) turn.warn(code, message);
        turn.start(event.request.requestId);
        break;
      case "block.start":
        this.#blocks++;
        this.#indexes.set(event.index, turn.open(event.block));
        break;
      case "text.delta":
      case "thinking.delta":
      case "tool.delta":
        turn.append(this.#indexes.get(event.index) ?? -1, event.delta);
        break;
      case "block.end":
        turn.seal(this.#indexes.get(event.index) ?? -1, event.block);
        break;
      case "usage":
        turn.usage(event.usage);
        break;
      case "attempt":
        break;
      case "finish": {
        const message = validateTurn(event.message);
        if (message === undefined) throw new FailureError(NO_TURN);
        const { content, responseId, stopReason, rawStopReason } = message;
        turn.responseId(responseId);
        for (const block of content.slice(this.#blocks)) turn.block(block);
        turn.finish(stopReason, rawStopReason);
        break;
      }
      case "error":
        if (typeof event.error.message !== "string") throw new FailureError(NO_TURN);
        turn.fail(event.error, event.partial?.stopReason);
        break;
    }
  }
}

const NO_TURN = failure("protocol", "The provider's stream ended with something that is not a turn.");

/** Reads an unvalidated stream, one event before each `yield`. Rethrows errors of the stream. */
export async function* replayStream(
  open: () => AsyncIterable<ModelEvent>,
  reader: Pick<Replay, "event">,
): AsyncGenerator<void> {
  const stream = new ValidatedStream(open);
  try {
    for (;;) {
      const event = await stream.next();
      if (event.type === "broken") throw event.cause ?? new FailureError(failure("protocol", event.why));
      reader.event(event);
      yield;
    }
  } finally {
    stream.close();
  }
}
