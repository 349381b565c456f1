const FENCE = "```";
/** Whitespace and the first characters of a closing fence. */
const TAIL = /\s*`{0,3}\s*$/;

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
    const tail = this.#state === "inside" ? (TAIL.exec(this.#held)?.[0] ?? "") : "";
    return this.#take(this.#held.length - tail.length);
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
