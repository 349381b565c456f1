const FENCE = "```";

/**
 * Removes a code fence around a whole text.
 *
 * @param firstLine matches the language after the opening fence
 */
export function withoutFence(text: string, firstLine: RegExp): string {
  const whole = text.trim();
  if (whole.length < 2 * FENCE.length || !whole.startsWith(FENCE) || !whole.endsWith(FENCE)) return whole;
  const inner = whole.slice(FENCE.length, -FENCE.length);
  return firstLine.test(inner) ? inner.replace(firstLine, "").trim() : whole;
}

/** Removes a Markdown code fence around a streamed text. */
export class CodeFence {
  #state: "start" | "inside" | "outside" = "start";
  #held = "";

  /** Adds a chunk and returns the text that can be passed on. */
  push(piece: string): string {
    if (this.#state === "outside") return piece;
    this.#held += piece;
    if (this.#state === "start") {
      const text = this.#held.trimStart();
      if (FENCE.startsWith(text) || (text.startsWith(FENCE) && !text.includes("\n"))) return "";
      this.#state = text.startsWith(FENCE) ? "inside" : "outside";
      if (this.#state === "inside") this.#held = text.slice(text.indexOf("\n") + 1);
    }
    return this.#take(this.#state === "inside" ? tailStart(this.#held) : this.#held.length);
  }

  /** Returns the text that was held back, without the closing fence. */
  end(): string {
    const rest = this.#take(this.#held.length);
    return this.#state === "inside" && rest.trim() === FENCE ? "" : rest;
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }
}

/** Returns the position of a tail that consists of whitespace and the first characters of a closing fence. */
function tailStart(text: string): number {
  const end = text.trimEnd().length;
  let start = end;
  while (end - start < FENCE.length && text[start - 1] === "`") start -= 1;
  return text.slice(0, start).trimEnd().length;
}
