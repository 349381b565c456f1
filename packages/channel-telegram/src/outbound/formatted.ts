import type { MessageEntity } from "grammy/types";
import { limits } from "../limits.ts";

/** A text as Telegram shows it: words, and beside them which stretches look how. It cannot fail to parse. */
export interface FormattedText {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/** How a stretch looks. */
export type Look =
  | { readonly type: "bold" | "italic" | "strikethrough" | "code" | "blockquote" }
  | { readonly type: "pre"; readonly language?: string }
  | { readonly type: "text_link"; readonly url: string };

/** Writes a formatted text from its beginning to its end. */
export class FormattedWriter {
  #text = "";
  readonly #entities: MessageEntity[] = [];

  get length(): number {
    return this.#text.length;
  }

  /** Words that look like all of `looks`. */
  write(words: string, looks: readonly Look[] = []): void {
    const offset = this.#text.length;
    this.#text += words;
    for (const look of looks) this.mark(look, offset);
  }

  /** All from `offset` on looks like this. A stretch that begins where one of the same look ended is part of that. */
  mark(look: Look, offset: number): void {
    const length = this.#text.length - offset;
    if (length <= 0) return;
    const earlier = this.#entities.findLast((entity) => entity.type === look.type && isSame(entity, look));
    const isBlock = look.type === "pre" || look.type === "blockquote";
    if (earlier !== undefined && !isBlock && this.#canGrow(earlier, offset)) earlier.length += length;
    else this.#entities.push({ ...look, offset, length });
  }

  /** Whether it ends at `end`, and none around it does: stretches may hold one another, but not overlap. */
  #canGrow(entity: MessageEntity, end: number): boolean {
    const ending = this.#entities.filter(({ offset, length }) => offset + length === end);
    return ending.includes(entity) && ending.every(({ offset }) => offset >= entity.offset);
  }

  /** Goes on after a blank line, a line end or nothing, whichever `gap` is; never at the start. */
  separate(gap: string): void {
    this.#cutTo(this.#text.replace(/\n*$/, ""));
    if (this.#text !== "") this.#text += gap;
  }

  /** Telegram takes the first so many entities. */
  end(): FormattedText {
    this.#cutTo(this.#text.trimEnd());
    const entities = this.#entities
      .filter(({ length }) => length > 0)
      .toSorted((a, b) => a.offset - b.offset || b.length - a.length);
    return { text: this.#text, entities: entities.slice(0, limits.entities) };
  }

  /** No stretch may reach into what is written behind that. */
  #cutTo(text: string): void {
    this.#text = text;
    for (const entity of this.#entities) entity.length = Math.min(entity.length, text.length - entity.offset);
  }
}

function isSame(entity: MessageEntity, look: Look): boolean {
  return look.type !== "text_link" || (entity.type === "text_link" && entity.url === look.url);
}
