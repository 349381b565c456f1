import { createParser } from "eventsource-parser";
import { FailureError, failure, sayingOfPage } from "../failure/failure.ts";
import type { TurnWriter } from "../turn/record.ts";

/** Reads events into a turn. */
export interface EventReader {
  /** Takes the data of one event. A `SyntaxError` ends the turn as a `protocol` failure. */
  data(text: string): void;
  /** Takes an answer in one piece, from a server that does not stream or reports a failure so; `data` where absent. */
  whole?(text: string): void;
  /**
   * Nothing more comes: the turn may be finished if its last word was said. `broken` where the connection was cut and
   * the body did not end as the server meant it to.
   */
  wireEnded?(broken: boolean): void;
}

/** A server that says the rest of nothing for so long does not get its connection kept. */
const DRAIN_MS = 2_000;
/** Of one event, in characters: an image in base64 fits, a server without end does not. */
const MAX_EVENT = 64 * 1024 * 1024;
/** Of the beginning of an answer, in characters: a page's title stands there. */
const HEAD = 4_096;

/** Reads an answer into a turn, one piece of the wire for each that is asked for. */
export async function* readAnswer(
  turn: TurnWriter,
  response: Response,
  reader: EventReader,
): AsyncGenerator<void> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  try {
    if (!isJson) yield* eventsOf(turn, response, reader);
    else if (reader.whole === undefined) reader.data(await response.text());
    else reader.whole(await response.text());
  } catch (error) {
    if (!turn.ended) reader.wireEnded?.(true);
    if (!turn.ended) throw error;
  }
  if (!turn.ended) reader.wireEnded?.(false);
}

async function* eventsOf(turn: TurnWriter, response: Response, reader: EventReader): AsyncGenerator<void> {
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
  for await (const bytes of responseBytes(response, turn.signal)) {
    const text = decoder.decode(bytes, { stream: true });
    if (head.length < HEAD) head += text.slice(0, HEAD - head.length);
    parser.feed(text);
    yield;
  }
  // An event without its closing blank line counts too.
  if (!turn.ended) parser.feed(`${decoder.decode()}\n\n`);
  const page = turn.ended ? undefined : sayingOfPage(head);
  if (page === undefined) return;
  const said = `The server answered with a web page (${page}) and no answer of a model. Is its address the right one?`;
  throw new FailureError(failure("protocol", said));
}

/**
 * The bytes of a response as they are asked for. Who leaves after a whole answer leaves only the body's end to be read,
 * so that the connection can be kept; where `signal` is aborted it is cut.
 */
export async function* responseBytes(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const cut = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cut, { once: true });
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      ended = done;
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cut);
    if (signal.aborted) cut();
    else if (!ended) void drain(reader);
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), DRAIN_MS).unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // It broke after its last word.
  } finally {
    clearTimeout(timer);
  }
}
