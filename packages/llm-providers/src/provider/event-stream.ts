import { createParser } from "eventsource-parser";
import { FailureError, failure, htmlSummary } from "../failure/failure.ts";
import type { TurnWriter } from "../turn/record.ts";
import { bodyText, MAX_BODY_LENGTH, responseBytes } from "./http.ts";

/** Turns the events of one response into calls of a `TurnWriter`. */
export interface EventReader {
  /** Handles the data of one event. A `SyntaxError` ends the turn as a `protocol` failure. */
  data(text: string): void;
  /** Handles a JSON body (no streaming, or a failure with status 200). Default: `data`. */
  whole?(text: string): void;
  /**
   * The body has ended. The reader finishes the turn if the vendor's last event was read.
   * @param broken whether the connection was cut instead of closed
   */
  wireEnded?(broken: boolean): void;
}

/** The part of a body that is searched for the title of an HTML page, in UTF-16 units. */
const HTML_HEAD_LENGTH = 4_096;

/** Reads a response into a turn. Yields after each piece of the body, so that the turn can watch for silence. */
export async function* readResponse(
  turn: TurnWriter,
  response: Response,
  reader: EventReader,
): AsyncGenerator<void> {
  const body = responseBytes(response, turn.signal);
  try {
    if (response.headers.get("content-type")?.startsWith("application/json") !== true)
      yield* readEvents(turn, body, reader);
    else if (reader.whole === undefined) reader.data(await bodyText(body));
    else reader.whole(await bodyText(body));
  } catch (error) {
    if (!turn.ended) reader.wireEnded?.(true);
    if (!turn.ended) throw error;
  }
  if (!turn.ended) reader.wireEnded?.(false);
}

async function* readEvents(
  turn: TurnWriter,
  body: AsyncIterable<Uint8Array>,
  reader: EventReader,
): AsyncGenerator<void> {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: MAX_BODY_LENGTH,
    onEvent: ({ data }) => {
      if (!turn.ended) reader.data(data);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  let head = "";
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    if (head.length < HTML_HEAD_LENGTH) head += text.slice(0, HTML_HEAD_LENGTH - head.length);
    parser.feed(text);
    yield;
  }
  // Some servers close the connection without the blank line that ends the last event.
  if (!turn.ended) parser.feed(`${decoder.decode()}\n\n`);
  const page = turn.ended ? undefined : htmlSummary(head);
  if (page === undefined) return;
  const message = `The server returned a web page (${page}) instead of a model's answer. Check the provider's baseUrl.`;
  throw new FailureError(failure("protocol", message));
}
