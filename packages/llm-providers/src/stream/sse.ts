import { StringDecoder } from "node:string_decoder";

const MAX_LINE = 64 * 1024 * 1024;
const LF = "\n";
const CR = 13;
const COLON = 58;
const SPACE = 32;
const BOM = 0xfeff;

/** Called for each event; `event` is empty where the server named none. */
export type OnSseEvent = (data: string, event: string) => void;

/**
 * Splits a server-sent event stream, fed in pieces cut anywhere (inside a character too). Lines end in LF or CRLF.
 * Each byte is looked at once, however the pieces are cut.
 */
export class SseParser {
  readonly #onEvent: OnSseEvent;
  readonly #decoder = new StringDecoder("utf8");
  #partial: string[] = [];
  #partialLength = 0;
  #event = "";
  #data: string | undefined;
  #begun = false;

  constructor(onEvent: OnSseEvent) {
    this.#onEvent = onEvent;
  }

  /** @throws RangeError when a single line passes 64 MB. */
  push(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const text = this.#decoder.write(bytes);
    if (this.#begun) this.#text(text);
    else if (text !== "") {
      this.#begun = true;
      // A byte order mark may stand before the first line and is no part of it.
      this.#text(text.charCodeAt(0) === BOM ? text.slice(1) : text);
    }
  }

  /** Takes what was left without a final line break. An event without its closing blank line is delivered too. */
  end(): void {
    this.#text(`${this.#decoder.end()}\n\n`);
  }

  #text(text: string): void {
    let at = 0;
    if (this.#partialLength > 0) {
      const end = text.indexOf(LF);
      if (end < 0) {
        this.#keep(text);
        return;
      }
      this.#partial.push(text.slice(0, end));
      const line = this.#partial.join("");
      this.#partial = [];
      this.#partialLength = 0;
      this.#line(line, 0, line.length);
      at = end + 1;
    }
    for (;;) {
      const end = text.indexOf(LF, at);
      if (end < 0) break;
      this.#line(text, at, end);
      at = end + 1;
    }
    if (at < text.length) this.#keep(at === 0 ? text : text.slice(at));
  }

  #keep(text: string): void {
    this.#partial.push(text);
    this.#partialLength += text.length;
    if (this.#partialLength > MAX_LINE) throw new RangeError("A line of the event stream passed 64 MB");
  }

  #line(text: string, from: number, lineEnd: number): void {
    const to = lineEnd > from && text.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd;
    if (to === from) {
      if (this.#data !== undefined) {
        const data = this.#data;
        const event = this.#event;
        this.#data = undefined;
        this.#event = "";
        this.#onEvent(data, event);
      } else {
        this.#event = "";
      }
      return;
    }
    if (text.startsWith("data:", from)) {
      const start = text.charCodeAt(from + 5) === SPACE ? from + 6 : from + 5;
      const value = text.slice(Math.min(start, to), to);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (text.startsWith("event:", from)) {
      const start = text.charCodeAt(from + 6) === SPACE ? from + 7 : from + 6;
      this.#event = text.slice(Math.min(start, to), to);
    } else if (text.charCodeAt(from) !== COLON && text.slice(from, to) === "data") {
      this.#data = this.#data === undefined ? "" : `${this.#data}\n`;
    }
  }
}
