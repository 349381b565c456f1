import { isJsonObject } from "@signalbox/agent-core";
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
  const text = body.replace(/^\s*```[a-z]*\n?([\s\S]*?)\n?```\s*$/, "$1").trim();
  const guess = /"name"\s*:\s*"([^"\\]+)"/.exec(text)?.[1] ?? UNREADABLE;
  const parsed = parseArguments(text);
  if (parsed.args === undefined) return { name: guess, argsText: text, error: parsed.argsError };
  const { name } = parsed.args;
  if (typeof name !== "string" || name === "")
    return { name: UNREADABLE, argsText: text, error: 'The call has no "name".' };
  const given = parsed.args.arguments ?? parsed.args.parameters ?? {};
  if (typeof given === "string") return { name, argsText: given };
  if (!isJsonObject(given)) return { name, argsText: text, error: '"arguments" is not a JSON object.' };
  return { name, argsText: JSON.stringify(given) };
}

/** A tag at the beginning of a line, or a line that may yet become one. */
const TAG = /^([ \t]*)(<.*)/gm;

/**
 * Finds calls in text that arrives in pieces. Ordinary text passes at once, all but a tail that may turn out to be
 * the beginning of a tag. A tag counts at the beginning of a line only, so prose about tags stays prose.
 */
export class CallScanner {
  readonly #sink: ScanSink;
  /** Text that may be the beginning of a tag. */
  #held = "";
  /** Whether `#held` begins a line, but for blanks. */
  #atLineStart = true;
  /** The body of the call that is being read; what of it may begin the closing tag is held. */
  #body: string[] | undefined;
  #calls = 0;
  #over = false;

  constructor(sink: ScanSink) {
    this.#sink = sink;
  }

  push(delta: string): void {
    if (this.#over) return;
    this.#held += delta;
    while (this.#body === undefined ? this.#inText() : this.#inCall(this.#body));
  }

  /** The text is over: a call left open is taken as it is. */
  end(): void {
    if (this.#over) return;
    if (this.#body !== undefined) this.#call([...this.#body, this.#held].join(""));
    else this.#say(this.#held);
    this.#held = "";
  }

  #say(text: string): void {
    // Between and after calls only blank space is expected, and it means nothing.
    if (text !== "" && (this.#calls === 0 || text.trim() !== "")) this.#sink.text(text);
  }

  #call(body: string): void {
    this.#body = undefined;
    this.#calls++;
    this.#sink.call(readCall(body));
  }

  /** Reads text up to a tag. Whether a call begins. */
  #inText(): boolean {
    const text = this.#held;
    const tags = this.#calls > 0 ? [CALL_OPEN, RESULT_OPEN] : [CALL_OPEN];
    for (const { index, 1: blanks = "", 2: line = "" } of text.matchAll(TAG)) {
      if (index === 0 && !this.#atLineStart) continue;
      const at = index + blanks.length;
      const tag = tags.find((tag) => line.startsWith(tag));
      const mayBecome = at + line.length === text.length && tags.some((tag) => tag.startsWith(line));
      if (tag === undefined && !mayBecome) continue;
      this.#say(text.slice(0, at));
      this.#atLineStart = true;
      this.#held = text.slice(at + (tag ?? "").length);
      if (tag === CALL_OPEN) this.#body = [];
      this.#over = tag === RESULT_OPEN;
      if (this.#over) this.#sink.invented();
      return tag === CALL_OPEN;
    }
    this.#atLineStart = /(?:^|\n)[ \t]*$/.test(text) && (this.#atLineStart || text.includes("\n"));
    this.#held = "";
    this.#say(text);
    return false;
  }

  /** Reads what belongs to a call. Whether it has ended. */
  #inCall(body: string[]): boolean {
    const text = this.#held;
    // Only the last few characters can begin a closing tag, so the body is looked at once.
    const close = text.indexOf(CALL_CLOSE);
    const end = close < 0 ? Math.max(0, text.length - CALL_CLOSE.length + 1) : close;
    body.push(text.slice(0, end));
    this.#held = text.slice(close < 0 ? end : close + CALL_CLOSE.length);
    if (close >= 0) this.#call(body.join(""));
    return close >= 0;
  }
}
