import type { Model, ModelContext, ModelEvent, StreamOptions } from "@signalbox/agent-core";
import { classifyException } from "../failure/failure.ts";
import { Replay, replayStream } from "../turn/replay.ts";
import { failedTurn, isTurn, modelTurn, NO_TIMEOUTS } from "../turn/turn.ts";

/** Returns a stream that never throws. Our own turns are returned unchanged. Other streams are validated. */
export function guardStream(
  open: () => AsyncIterable<ModelEvent>,
  asked: { readonly model: Model; readonly context: ModelContext; readonly options: StreamOptions },
  now: () => number,
): AsyncIterable<ModelEvent> {
  let stream: AsyncIterable<ModelEvent>;
  try {
    stream = open();
  } catch (error) {
    return failedTurn({ ...asked, now }, classifyException(error));
  }
  if (isTurn(stream)) return stream;
  return modelTurn({ ...asked, timeouts: NO_TIMEOUTS, now }, (turn) =>
    replayStream(() => stream, new Replay(turn)),
  );
}
