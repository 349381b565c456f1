import { isRaw } from "../shared/json.ts";
import { parseArguments } from "../turn/arguments.ts";
import { CALL_CLOSE, CALL_OPEN, RESULT_OPEN } from "./write.ts";

/** A call read from text. `argsText` is the arguments' JSON, or the whole body where that could not be read. */
interface TextCall {
  readonly name: string;
  readonly argsText: string;
  /** Set where the body could not be read; goes back to the model. */
  readonly error?: string;
}

/** What the scanner found, in the order of the text. */
export interface ScanSink {
  text(text: string): void;
  call(call: TextCall): void;
  /** The model began to make results up: what follows is worth nothing. */
  invented(): void;
}

const UNREADABLE = "unreadable";

/** Reads the body of one call; code fences around it are forgiven. */
function readCall(body: string): TextCall {
  const text = body
    .trim()
    .replace(/^```[a-z]*\n?([\s\S]*?)\n?```$/, "$1")
    .trim();
  const guess = /"name"\s*:\s*"([^"\\]+)"/.exec(text)?.[1] ?? UNREADABLE;
  const parsed = parseArguments(text);
  if (parsed.args === undefined) return { name: guess, argsText: text, error: parsed.argsError };
  const { name } = parsed.args;
  if (typeof name !== "string" || name === "")
    return { name: UNREADABLE, argsText: text, error: 'The call has no "name".' };
  const given = parsed.args.arguments ?? parsed.args.parameters ?? {};
  if (typeof given === "string") return { name, argsText: given };
  if (!isRaw(given)) return { name, argsText: text, error: '"arguments" is not a JSON object.' };
  return { name, argsText: JSON.stringify(given) };
}

/**
 * Finds calls in text that arrives in pieces. Ordinary text passes at once, all but a tail that may turn out to be
 * the beginning of a tag. A tag counts at the beginning of a line only, so prose about tags stays prose.
 */
export class CallScanner {
  readonly #sink: ScanSink;
  #held = "";
  #body: string[] | undefined;
  #tail = "";
  #lineStart = true;
  #calls = 0;
  #over = false;

  constructor(sink: ScanSink) {
    this.#sink = sink;
  }

  push(delta: string): void {
    if (this.#over) return;
    if (this.#body !== undefined) this.#inCall(delta);
    else this.#inText(this.#held + delta);
  }

  /** The text is over: a call left open is taken as it is. */
  end(): void {
    if (this.#over) return;
    if (this.#body !== undefined) {
      const body = [...this.#body, this.#tail].join("");
      this.#body = undefined;
      this.#call(body);
    } else if (this.#held !== "") {
      this.#say(this.#held);
    }
    this.#held = "";
  }

  #say(text: string): void {
    // Between and after calls only blank space is expected, and it means nothing.
    if (text !== "" && (this.#calls === 0 || text.trim() !== "")) this.#sink.text(text);
  }

  #call(body: string): void {
    this.#calls++;
    this.#sink.call(readCall(body));
  }

  #inText(text: string): void {
    this.#held = "";
    let at = 0;
    let lineStart = this.#lineStart;
    while (at < text.length) {
      if (lineStart && text[at] === "<") {
        const rest = text.slice(at);
        if (rest.startsWith(CALL_OPEN)) {
          this.#say(text.slice(0, at));
          this.#body = [];
          this.#tail = "";
          this.#lineStart = true;
          this.#inCall(rest.slice(CALL_OPEN.length));
          return;
        }
        if (this.#calls > 0 && rest.startsWith(RESULT_OPEN)) {
          this.#say(text.slice(0, at));
          this.#over = true;
          this.#sink.invented();
          return;
        }
        if (CALL_OPEN.startsWith(rest) || (this.#calls > 0 && RESULT_OPEN.startsWith(rest))) {
          this.#say(text.slice(0, at));
          this.#held = rest;
          this.#lineStart = true;
          return;
        }
      }
      const next = text.indexOf("\n", at);
      if (lineStart && (text[at] === " " || text[at] === "\t")) {
        at++;
        continue;
      }
      if (next < 0) {
        lineStart = false;
        break;
      }
      at = next + 1;
      lineStart = true;
    }
    this.#lineStart = lineStart;
    this.#say(text);
  }

  #inCall(delta: string): void {
    // Only the last few characters can begin a closing tag, so the body is looked at once.
    const text = this.#tail + delta;
    const close = text.indexOf(CALL_CLOSE);
    if (close < 0) {
      const keep = Math.min(text.length, CALL_CLOSE.length - 1);
      this.#body?.push(text.slice(0, text.length - keep));
      this.#tail = text.slice(text.length - keep);
      return;
    }
    const body = [...(this.#body ?? []), text.slice(0, close)].join("");
    this.#body = undefined;
    this.#tail = "";
    this.#call(body);
    this.#lineStart = true;
    this.#inText(text.slice(close + CALL_CLOSE.length));
  }
}
