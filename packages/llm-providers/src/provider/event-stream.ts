import { createParser } from "eventsource-parser";
import { FailureError, failure, sayingOfPage } from "../failure/failure.ts";
import type { TurnWriter } from "../turn/record.ts";
import type { HttpResponse } from "./transport.ts";

/** Reads events into a turn. */
export interface EventReader {
  /** Takes the data of one event. A `SyntaxError` ends the turn as a `protocol` failure. */
  data(text: string): void;
  /** Takes an answer in one piece, from a server that does not stream, or fails this way. Default `data`. */
  whole?(text: string): void;
  /**
   * Nothing more comes: the turn may be finished if its last word was said. `broken` where the connection was cut and
   * the body did not end as the server meant it to.
   */
  wireEnded?(broken: boolean): void;
}

/** Characters of one event, or of a whole answer: an image in base64 fits, a server without end does not. */
const MAX_EVENT = 64 * 1024 * 1024;
/** Characters at the beginning of an answer: a page's title stands there. */
const HEAD = 4_096;

/** Reads an answer into a turn, one piece of the wire for each that is asked for. */
export async function* readAnswer(
  turn: TurnWriter,
  { header, body }: Pick<HttpResponse, "header" | "body">,
  reader: EventReader,
): AsyncGenerator<void> {
  try {
    if (header("content-type")?.startsWith("application/json") !== true) yield* eventsOf(turn, body, reader);
    else if (reader.whole === undefined) reader.data(await bodyText(body));
    else reader.whole(await bodyText(body));
  } catch (error) {
    if (!turn.ended) reader.wireEnded?.(true);
    if (!turn.ended) throw error;
  }
  if (!turn.ended) reader.wireEnded?.(false);
}

/** The text of a body; what a server sends without end is cut off. */
export async function bodyText(body: HttpResponse["body"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MAX_EVENT) break;
  }
  return text + decoder.decode();
}

async function* eventsOf(
  turn: TurnWriter,
  body: HttpResponse["body"],
  reader: EventReader,
): AsyncGenerator<void> {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data }) => {
      if (!turn.ended) reader.data(data);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  let head = "";
  for await (const bytes of body) {
    const piece = decoder.decode(bytes, { stream: true });
    if (head.length < HEAD) head += piece.slice(0, HEAD - head.length);
    parser.feed(piece);
    yield;
  }
  // An event without its closing blank line counts too.
  if (!turn.ended) parser.feed(`${decoder.decode()}\n\n`);
  const page = turn.ended ? undefined : sayingOfPage(head);
  if (page === undefined) return;
  const said = `The server answered with a web page (${page}) and no answer of a model. Is its address the right one?`;
  throw new FailureError(failure("protocol", said));
}
