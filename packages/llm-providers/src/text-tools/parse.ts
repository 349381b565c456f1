import { isJsonObject } from "@signalbox/agent-core";
import { parseArguments } from "../turn/arguments.ts";
import { withoutFence } from "../turn/code-fence.ts";
import { CALL_CLOSE, CALL_OPEN, RESULT_OPEN } from "./write.ts";

/** A call read from text. `argsText` is the JSON of the arguments, or the entire body if it is malformed. */
export interface TextCall {
  readonly name: string;
  readonly argsText: string;
  /** The reason why the body is malformed. The model receives it. */
  readonly error?: string;
}

/** Receives the scanner's findings, in the order of the text. */
export interface ScanSink {
  text(text: string): void;
  call(call: TextCall): void;
  /** The model began to invent results. The rest of its answer is useless. */
  invented(): void;
}

const UNREADABLE = "unreadable";

/** Parses the body of a call. Ignores a code fence around it. */
function readCall(body: string): TextCall {
  const text = withoutFence(body, /^[a-z]*\n?/);
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

/** A tag at the beginning of a line, or a line that may become one. */
const TAG = /^([ \t]*)(<.*)/gm;

/**
 * Finds calls in streamed text. Text passes through immediately, except for a tail that may begin a tag. A tag is
 * recognized only at the beginning of a line, so that a model can write about tags.
 */
export class CallScanner {
  readonly #sink: ScanSink;
  /** Text that may begin a tag. */
  #held = "";
  /** True if `#held` is at the beginning of a line, ignoring blanks. */
  #atLineStart = true;
  /** The body of the current call, without a tail that may begin the closing tag. */
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

  /** Ends the text. A call without its closing tag is read as is. */
  end(): void {
    if (this.#over) return;
    if (this.#body !== undefined) this.#call([...this.#body, this.#held].join(""));
    else this.#say(this.#held);
    this.#held = "";
  }

  #say(text: string): void {
    // Whitespace between and after calls is meaningless.
    if (text !== "" && (this.#calls === 0 || text.trim() !== "")) this.#sink.text(text);
  }

  #call(body: string): void {
    this.#body = undefined;
    this.#calls++;
    this.#sink.call(readCall(body));
  }

  /** Reads text up to a tag. Returns true if a call begins. */
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

  /** Reads the body of a call. Returns true if it has ended. */
  #inCall(body: string[]): boolean {
    const text = this.#held;
    // Only the tail can begin a closing tag, so each character is searched only once.
    const close = text.indexOf(CALL_CLOSE);
    const end = close < 0 ? Math.max(0, text.length - CALL_CLOSE.length + 1) : close;
    body.push(text.slice(0, end));
    this.#held = text.slice(close < 0 ? end : close + CALL_CLOSE.length);
    if (close >= 0) this.#call(body.join(""));
    return close >= 0;
  }
}
