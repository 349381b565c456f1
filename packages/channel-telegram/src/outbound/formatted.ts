import type { MessageEntity } from "grammy/types";

/** Plain text and the entities that style it. There is no markup that Telegram could fail to parse. */
export interface FormattedText {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/** Style of a text range. */
export type Style =
  | { readonly type: "bold" | "italic" | "strikethrough" | "code" | "blockquote" }
  | { readonly type: "pre"; readonly language?: string }
  | { readonly type: "text_link"; readonly url: string };

/** Builds a formatted text sequentially. */
export class FormattedWriter {
  #text = "";
  readonly #entities: MessageEntity[] = [];

  get length(): number {
    return this.#text.length;
  }

  /** Appends text with all of `styles`. */
  write(words: string, styles: readonly Style[] = []): void {
    const offset = this.#text.length;
    this.#text += words;
    for (const style of styles) this.mark(style, offset);
  }

  /**
   * Styles the text from `offset` to the end. Extends the previous entity if it has the same style and ends at
   * `offset`.
   */
  mark(style: Style, offset: number): void {
    const length = this.#text.length - offset;
    if (length <= 0) return;
    const earlier = this.#entities.findLast((entity) => entity.type === style.type && isSame(entity, style));
    const isBlock = style.type === "pre" || style.type === "blockquote";
    if (earlier !== undefined && !isBlock && this.#canGrow(earlier, offset)) earlier.length += length;
    else this.#entities.push({ ...style, offset, length });
  }

  /** Returns true if the entity ends at `end` and no enclosing entity does. Entities may nest but must not overlap. */
  #canGrow(entity: MessageEntity, end: number): boolean {
    const ending = this.#entities.filter(({ offset, length }) => offset + length === end);
    return ending.includes(entity) && ending.every(({ offset }) => offset >= entity.offset);
  }

  /** Appends `gap` (a blank line, a line break or nothing), unless the text is still empty. */
  separate(gap: string): void {
    this.#cutTo(this.#text.replace(/\n*$/, ""));
    if (this.#text !== "") this.#text += gap;
  }

  end(): FormattedText {
    this.#cutTo(this.#text.trimEnd());
    const entities = this.#entities
      .filter(({ length }) => length > 0)
      .toSorted((a, b) => a.offset - b.offset || b.length - a.length);
    return { text: this.#text, entities };
  }

  /** Shortens entities that would extend beyond the text. */
  #cutTo(text: string): void {
    this.#text = text;
    for (const entity of this.#entities) entity.length = Math.min(entity.length, text.length - entity.offset);
  }
}

function isSame(entity: MessageEntity, style: Style): boolean {
  return style.type !== "text_link" || (entity.type === "text_link" && entity.url === style.url);
}

/** Returns true if Telegram accepts this URL as a link. */
export function isLink(url: string): boolean {
  return /^(?:https?|tg):\/\/[^\s]+$/i.test(url) && URL.canParse(url);
}
