import type { ModelEvent } from "@signalbox/agent-core";
import { FailureError, failure } from "../failure/failure.ts";
import type { TurnWriter } from "./writer.ts";

/** Says again, to a turn of ours, what the events of another stream say. */
export class Replay {
  readonly #turn: TurnWriter;
  /** Our index of each block of theirs. */
  readonly #indexes = new Map<number, number>();
  #blocks = 0;

  constructor(turn: TurnWriter) {
    this.#turn = turn;
  }

  /** @throws FailureError (`protocol`) for what is no event: a third party's stream may be written without types. */
  event(event: ModelEvent): void {
    if (!isEvent(event)) throw new FailureError(NO_EVENT);
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
        turn.text(this.#indexOf(event), event.delta);
        break;
      case "thinking.delta":
        turn.thinking(this.#indexOf(event), event.delta);
        break;
      case "tool.delta":
        turn.args(this.#indexOf(event), event.delta);
        break;
      case "block.end":
        turn.seal(this.#indexOf(event), event.block);
        break;
      case "usage":
        turn.usage(event.usage);
        break;
      case "attempt":
        break;
      case "finish": {
        const { content, responseId, stopReason, rawStopReason } = event.message;
        if (responseId !== undefined) turn.responseId(responseId);
        for (const block of content.slice(this.#blocks)) turn.block(block);
        turn.finish(stopReason, rawStopReason);
        break;
      }
      case "error":
        turn.fail(event.error, event.partial.stopReason);
        break;
    }
  }

  #indexOf({ index }: { readonly index: number }): number {
    return this.#indexes.get(index) ?? -1;
  }
}

const NO_EVENT = failure("protocol", "The provider's stream gave something that is no event.");

/** As far as a turn relies on it. */
function isEvent(event: ModelEvent): boolean {
  if (typeof event !== "object" || event === null || typeof event.type !== "string") return false;
  if (event.type === "finish") return Array.isArray(event.message?.content);
  if (event.type !== "error") return true;
  return typeof event.error?.message === "string" && Array.isArray(event.partial?.content);
}
