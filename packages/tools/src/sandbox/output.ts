import { truncateText } from "../files/text.ts";

/** Keeps the start and the end of output of any length. */
export class OutputBuffer {
  readonly #headMax: number;
  readonly #tailMax: number;
  #head = "";
  #tail = "";
  #length = 0;

  /** @param max maximum length in UTF-16 units: 70 % for the start, 30 % for the end */
  constructor(max: number) {
    this.#headMax = Math.floor(max * 0.7);
    this.#tailMax = max - this.#headMax;
  }

  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    this.#length += text.length;
    const room = this.#headMax - this.#head.length;
    const first = this.#tail === "" && room > 0 ? truncateText(text, room) : "";
    this.#head += first;
    this.#tail += text.slice(first.length);
    // Truncate only occasionally, so that the cost of a push is proportional to its length.
    if (this.#tail.length > 2 * this.#tailMax + 4_096) this.#tail = this.#tail.slice(-this.#tailMax);
  }

  toString(): string {
    if (this.#length <= this.#headMax + this.#tailMax) return this.#head + this.#tail;
    const tail = this.#tail.slice(-this.#tailMax).replace(/^[\uDC00-\uDFFF]/, "");
    const omitted = this.#length - this.#head.length - tail.length;
    return `${this.#head}\n[… ${omitted.toLocaleString("en-US")} characters omitted …]\n${tail}`;
  }
}
