const OPEN = "<think>";
const CLOSE = "</think>";

/** Where a piece of text belongs. */
export type TaggedPiece = { readonly kind: "text" | "thinking"; readonly text: string };

/**
 * Splits `<think>…</think>` off the start of streamed text. Tags may be cut anywhere; text that only begins like a
 * tag is given out as soon as it is clear that it is none.
 */
export class ThinkTags {
  #state: "start" | "thinking" | "gap" | "text" = "start";
  #held = "";

  /** Takes a piece of streamed text. */
  push(piece: string): TaggedPiece[] {
    if (this.#state === "text") return [{ kind: "text", text: piece }];
    this.#held += piece;
    return this.#read(false);
  }

  /** What was held back when the stream ended. */
  end(): TaggedPiece[] {
    return this.#read(true);
  }

  #read(last: boolean): TaggedPiece[] {
    const out: TaggedPiece[] = [];
    if (this.#state === "start") {
      const text = this.#held.trimStart();
      // One line break after the tag belongs to it, and may come later than the tag.
      if (!last && `${OPEN}\r`.startsWith(text)) return out;
      const isTagged = text.startsWith(OPEN);
      if (isTagged) this.#held = text.slice(OPEN.length).replace(/^\r?\n/, "");
      this.#state = isTagged ? "thinking" : "text";
    }
    if (this.#state === "thinking") {
      const end = this.#held.indexOf(CLOSE);
      // The last characters may begin the closing tag.
      const open = last ? this.#held.length : Math.max(0, this.#held.length - CLOSE.length + 1);
      const safe = end >= 0 ? end : open;
      if (safe > 0) out.push({ kind: "thinking", text: this.#held.slice(0, safe) });
      this.#held = this.#held.slice(end >= 0 ? end + CLOSE.length : safe);
      if (end < 0) return out;
      this.#state = "gap";
    }
    if (this.#state === "gap") {
      this.#held = this.#held.trimStart();
      if (this.#held === "") return out;
      this.#state = "text";
    }
    if (this.#held !== "") out.push({ kind: "text", text: this.#held });
    this.#held = "";
    return out;
  }
}
