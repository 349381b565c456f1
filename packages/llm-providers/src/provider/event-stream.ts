import { createParser } from "eventsource-parser";
import { FailureError, failure, htmlSummary } from "../failure/failure.ts";
import type { TurnWriter } from "../turn/record.ts";
import { bodyText, MAX_BODY_LENGTH, responseBytes } from "./http.ts";

/** Converts the events of one response to calls of a `TurnWriter`. */
export interface EventReader {
  /** Handles the data of one event. A `SyntaxError` fails the turn with `protocol`. */
  data(text: string): void;
  /** Handles a JSON body (no streaming, or a failure with status 200). Default: `data`. */
  whole?(text: string): void;
  /**
   * Handles the end of the body. The reader finishes the turn if it has read the vendor's last event.
   *
   * @param broken whether the connection broke instead of closing properly
   */
  wireEnded?(broken: boolean): void;
}

/** Maximum length of the body prefix that is searched for the title of an HTML page, in UTF-16 code units. */
const HTML_HEAD_LENGTH = 4_096;

/** Reads a response into a turn. Yields after each chunk of the body, so that the turn can detect silence. */
export async function* readResponse(
  turn: TurnWriter,
  response: Response,
  reader: EventReader,
): AsyncGenerator<void> {
  const body = responseBytes(response, turn.signal);
  try {
    const type = response.headers.get("content-type") ?? "";
    if (!/^application\/(?:[\w.-]+\+)?json\b/.test(type)) yield* readEvents(turn, body, reader);
    else yield* readJson(turn, await bodyText(body), reader);
  } catch (error) {
    if (!turn.ended) reader.wireEnded?.(true);
    if (!turn.ended) throw error;
  }
  if (!turn.ended) reader.wireEnded?.(false);
}

/** Reads a body with the content type JSON. Some proxies also set it for an event stream or an error page. */
async function* readJson(turn: TurnWriter, text: string, reader: EventReader): AsyncGenerator<void> {
  if (/^\s*(?:(?:data|event|id|retry)?:|<)/.test(text)) {
    yield* readEvents(turn, [new TextEncoder().encode(text)], reader);
    return;
  }
  if (reader.whole === undefined) reader.data(text);
  else reader.whole(text);
}

async function* readEvents(
  turn: TurnWriter,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  reader: EventReader,
): AsyncGenerator<void> {
  const decoder = new TextDecoder();
  let hasEvents = false;
  const parser = createParser({
    maxBufferSize: MAX_BODY_LENGTH,
    onEvent: ({ data }) => {
      hasEvents = true;
      if (!turn.ended) reader.data(data);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  let head = "";
  /** The body, while it may still be JSON instead of events. */
  const json: string[] = [];
  let jsonLength = 0;
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    if (head.length < HTML_HEAD_LENGTH) head += text.slice(0, HTML_HEAD_LENGTH - head.length);
    parser.feed(text);
    jsonLength += text.length;
    const mayBeJson = !hasEvents && jsonLength <= MAX_BODY_LENGTH;
    if (mayBeJson && (head.trim() === "" || /^\s*[[{]/.test(head))) json.push(text);
    yield;
  }
  // Some servers close the connection without the blank line that ends the last event.
  if (!turn.ended) parser.feed(`${decoder.decode()}\n\n`);
  if (turn.ended) return;
  const text = json.join("");
  // Servers without streaming, and failures with status 200, may use any content type.
  if (!hasEvents && text.trim() !== "") {
    yield* readJson(turn, text, reader);
    return;
  }
  const page = htmlSummary(head);
  if (page === undefined) return;
  const message = `The server returned a web page (${page}) instead of a model's answer. Check the provider's baseUrl.`;
  throw new FailureError(failure("protocol", message));
}
