import type { Model, ModelEvent, StreamOptions } from "@signalbox/agent-core";
import { FailureError, failure } from "../failure/failure.ts";
import { Replay } from "../turn/replay.ts";
import { isTurn, modelTurn, UNWATCHED } from "../turn/turn.ts";
import type { TurnWriter } from "../turn/writer.ts";

/**
 * The stream of one attempt, which never throws and ends with one terminal event. Our own turns are such already; a
 * third party's, which is not known to keep the contract, is said again through one.
 */
export function guarded(
  open: () => AsyncIterable<ModelEvent>,
  model: Model,
  options: StreamOptions,
  now: () => number,
): AsyncIterable<ModelEvent> {
  let stream: AsyncIterable<ModelEvent>;
  try {
    stream = open();
  } catch (error) {
    stream = throwing(error);
  }
  if (isTurn(stream)) return stream;
  return modelTurn({ model, options, timeouts: UNWATCHED, now }, (turn) => retold(stream, turn));
}

const WITHOUT_END = failure("protocol", "The provider's stream ended without a word.");

async function* throwing(error: unknown): AsyncGenerator<ModelEvent> {
  yield* [];
  throw error;
}

async function* retold(stream: AsyncIterable<ModelEvent>, turn: TurnWriter): AsyncGenerator<void> {
  const events = stream[Symbol.asyncIterator]();
  const replay = new Replay(turn);
  const close = async (): Promise<unknown> => events.return?.();
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done === true) throw new FailureError(WITHOUT_END);
      replay.event(value);
      if (turn.ended) break;
      yield;
    }
    // A generator may give its connection back after its last event. It is not waited for.
    void events
      .next()
      .then(({ done }) => (done === true ? undefined : close()))
      .catch(() => {});
    yield;
  } finally {
    if (!turn.ended || turn.signal.aborted) close().catch(() => {});
  }
}
