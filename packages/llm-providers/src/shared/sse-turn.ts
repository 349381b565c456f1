import { FailureError, failure } from "../stream/errors.ts";
import { responseSource } from "../stream/source.ts";
import { SseParser } from "../stream/sse.ts";
import type { TurnSource, TurnWriter } from "../stream/turn.ts";

/** Reads the data of events; the wire's end may complete a turn whose last word was already said. */
export interface EventReader {
  /** Takes one event's data. */
  data(text: string): void;
  /** Called when nothing more comes, however the wire ended; it may finish the turn. */
  wireEnded?(): void;
}

/** A streamed answer, event by event. Data that is not JSON ends the turn as a `protocol` failure. */
export function sseTurn(turn: TurnWriter, response: Response, reader: EventReader): TurnSource {
  const parser = new SseParser((data) => {
    if (turn.ended) return;
    try {
      reader.data(data);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new FailureError(
        failure("protocol", `The server sent an event that is not JSON: ${data.slice(0, 80)}`),
      );
    }
  });
  const source = responseSource(
    response,
    (chunk) => parser.push(chunk),
    () => parser.end(),
  );
  const end = (): boolean => {
    if (!turn.ended) reader.wireEnded?.();
    return false;
  };
  const broke = (error: unknown): boolean => {
    if (!turn.ended) reader.wireEnded?.();
    if (turn.ended) return false;
    throw error;
  };
  return {
    pull() {
      try {
        const more = source.pull();
        if (more === true) return true;
        if (more === false) return end();
        return more.then((some) => some || end(), broke);
      } catch (error) {
        return broke(error);
      }
    },
    close: (finished) => source.close(finished),
  };
}
