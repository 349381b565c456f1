/** Thrown to stop reading a document when the text has reached its limit. */
export class TextLimitReached extends Error {
  override readonly name = "TextLimitReached";
}

/** Collects text up to a limit. */
export class TextOutput {
  readonly #maxChars: number;
  readonly #pieces: string[] = [];
  #length = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** @throws TextLimitReached */
  add(text: string): void {
    this.#pieces.push(text.slice(0, this.#maxChars - this.#length));
    this.#length += text.length;
    if (this.#length >= this.#maxChars) throw new TextLimitReached();
  }

  get text(): string {
    return this.#pieces.join("");
  }
}
