/** The tags that models put around their reasoning if their server does not separate it. */
const TAGS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<seed:think>", "</seed:think>"],
  ["[THINK]", "[/THINK]"],
  // OpenAI's gpt-oss, on servers that do not parse its channels.
  ["<|channel|>analysis<|message|>", "<|end|>"],
];
/** The tags that may end reasoning that none has opened. `<|end|>` also ends answers. */
const CLOSING_TAGS: readonly string[] = TAGS.map(([, close]) => close).filter((close) => close.includes("/"));
/** Headers that gpt-oss puts before its answer. */
const ANSWER_HEADERS: readonly string[] = ["<|start|>assistant", "<|channel|>final<|message|>"];

type Kind = "text" | "thinking";

/** A piece of an answer, or `became`: what the answer said so far was of this kind after all. */
export type TaggedPiece = { readonly kind: Kind; readonly text: string } | { readonly became: Kind };

/**
 * Separates reasoning in tags from the text after it. Reads streamed text; tags may be cut anywhere.
 *
 * Reasoning counts only at the start of an answer. If the chat template of a server already contains the opening tag,
 * only the closing one arrives: the text before it then turns out to be reasoning. A model that did this once is read
 * with `startsThinking` the next time, so that its reasoning is not shown as an answer first.
 */
export class ThinkTags {
  #state: "start" | "thinking" | "gap" | "text" | "done";
  /** The tags that end the reasoning being read. */
  #closing: readonly string[] = CLOSING_TAGS;
  /** Text that may turn out to be part of a tag. */
  #held = "";
  /** The text of the answer, as long as it may turn out to be reasoning. */
  #text = "";
  /** True while reasoning is read that no tag has opened. */
  #unopened: boolean;
  #complete = false;
  readonly #onUnopened: () => void;

  /**
   * @param startsThinking whether the answer begins with reasoning that no tag opens
   * @param onUnopened called if a closing tag ends reasoning that no tag has opened
   */
  constructor(startsThinking = false, onUnopened: () => void = () => {}) {
    this.#unopened = startsThinking;
    this.#onUnopened = onUnopened;
    this.#state = "start";
  }

  push(piece: string): TaggedPiece[] {
    if (this.#state === "done") return piece === "" ? [] : [{ kind: "text", text: piece }];
    this.#held += piece;
    return this.#read(false);
  }

  /**
   * Returns the text that was held back.
   * @param complete false if the answer was cut, or a tool call follows
   */
  end(complete: boolean): TaggedPiece[] {
    this.#complete = complete;
    const pieces = this.#read(true);
    // Reasoning that no tag has opened and none has closed was the answer.
    if (complete && this.#unopened && this.#state === "thinking") pieces.push({ became: "text" });
    this.#state = "done";
    return pieces;
  }

  #read(last: boolean): TaggedPiece[] {
    const out: TaggedPiece[] = [];
    if (this.#state === "start" && !this.#readStart(last)) return out;
    for (;;) {
      if (this.#state === "thinking" && !this.#readThinking(last, out)) return out;
      if (this.#state === "gap" && !this.#readGap(last)) return out;
      if (this.#state !== "thinking") break;
    }
    if (this.#state === "text") this.#readText(last, out);
    else this.#say("text", this.#take(this.#held.length), out);
    return out;
  }

  /** Decides how the answer begins. Returns whether enough of it has arrived. */
  #readStart(last: boolean): boolean {
    const text = this.#held.trimStart();
    if (!last && TAGS.some(([open]) => `${open}\r`.startsWith(text))) return false;
    if (this.#open(text)) return true;
    this.#state = this.#unopened ? "thinking" : "text";
    return true;
  }

  /** Begins reasoning if `text` starts with an opening tag. One line break after the tag belongs to it. */
  #open(text: string): boolean {
    const tag = TAGS.find(([open]) => text.startsWith(open));
    if (tag === undefined) return false;
    this.#held = text.slice(tag[0].length).replace(/^\r?\n/, "");
    this.#closing = [tag[1]];
    this.#state = "thinking";
    this.#unopened = false;
    return true;
  }

  /** Reads reasoning up to its closing tag. Returns whether it has ended. */
  #readThinking(last: boolean, out: TaggedPiece[]): boolean {
    const found = this.#findClosing();
    const safe = last ? this.#held.length : this.#held.length - heldTail(this.#held, this.#closing);
    this.#say("thinking", this.#take(found?.at ?? safe), out);
    if (found === undefined) return false;
    this.#take(found.tag.length);
    this.#state = "gap";
    return true;
  }

  /** Skips what stands between reasoning and the answer. Returns whether the answer, or more reasoning, has begun. */
  #readGap(last: boolean): boolean {
    for (;;) {
      this.#held = this.#held.trimStart();
      const header = ANSWER_HEADERS.find((word) => this.#held.startsWith(word));
      if (header === undefined) break;
      this.#take(header.length);
    }
    if (this.#held === "") return false;
    const words = [...ANSWER_HEADERS, ...TAGS.map(([open]) => `${open}\r`)];
    if (!last && words.some((word) => word.startsWith(this.#held))) return false;
    if (!this.#open(this.#held)) this.#state = "done";
    return true;
  }

  /** Reads an answer that began without a tag, and looks for one that closes reasoning. */
  #readText(last: boolean, out: TaggedPiece[]): void {
    const found = this.#findClosing();
    // The text after the tag decides.
    const isLast = found !== undefined && this.#held.slice(found.at + found.tag.length).trim() === "";
    if (isLast && (!last || this.#complete)) {
      this.#sayText(found.at, out);
      if (last) this.#held = "";
      return;
    }
    if (found === undefined) {
      this.#sayText(last ? this.#held.length : this.#held.length - heldTail(this.#held, this.#closing), out);
      return;
    }
    if (this.#isMentioned(found)) {
      this.#sayText(this.#held.length, out);
      this.#state = "done";
      return;
    }
    this.#sayText(found.at, out);
    this.#take(found.tag.length);
    if (this.#text.trim() !== "") out.push({ became: "thinking" });
    this.#onUnopened();
    this.#state = "gap";
    if (this.#readGap(last)) out.push(...this.#read(last));
  }

  /** Returns true if a closing tag is quoted, is part of code, or belongs to an opening tag in the text. */
  #isMentioned({ at, tag }: { readonly at: number; readonly tag: string }): boolean {
    const before = this.#text + this.#held.slice(0, at);
    const after = this.#held.slice(at + tag.length);
    const isQuoted = /[`'"“(]$/.test(before) || /^[`'"”)]/.test(after);
    const isInCode = (before.match(/```/g)?.length ?? 0) % 2 === 1;
    return isQuoted || isInCode || TAGS.some(([open]) => before.includes(open));
  }

  #findClosing(): { readonly at: number; readonly tag: string } | undefined {
    const found = this.#closing
      .map((tag) => ({ at: this.#held.indexOf(tag), tag }))
      .filter(({ at }) => at >= 0);
    return found.toSorted((a, b) => a.at - b.at)[0];
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }

  #sayText(length: number, out: TaggedPiece[]): void {
    const text = this.#take(length);
    this.#text += text;
    this.#say("text", text, out);
  }

  #say(kind: Kind, text: string, out: TaggedPiece[]): void {
    if (text !== "") out.push({ kind, text });
  }
}

/** Returns the number of characters at the end of a text that may begin one of these words. */
function heldTail(text: string, words: readonly string[]): number {
  const longest = Math.max(...words.map((word) => word.length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const tail = text.slice(-length);
    if (words.some((word) => word.startsWith(tail))) return length;
  }
  return 0;
}
