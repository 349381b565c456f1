import type { JsonObject, StreamOptions } from "@signalbox/agent-core";

/** Tags that models put around their reasoning if their server does not separate it, in lower case. */
const TAGS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<thoughts>", "</thoughts>"],
  ["<reasoning>", "</reasoning>"],
  ["<seed:think>", "</seed:think>"],
  ["[think]", "[/think]"],
  // Kimi-VL.
  ["◁think▷", "◁/think▷"],
  // Models that were tuned on traces from QwQ, such as OpenThinker.
  ["<|begin_of_thought|>", "<|end_of_thought|>"],
  // Cohere's Command A.
  ["<|start_thinking|>", "<|end_thinking|>"],
  // OpenAI's gpt-oss, on servers that do not parse its channels.
  ["<|channel|>analysis<|message|>", "<|end|>"],
  // Gemma 4.
  ["<|channel>thought", "<channel|>"],
  // Granite 3.2.
  ["here is my thought process:", "here is my response:"],
  ["here's my thought process:", "here's my response:"],
];
/** Tags that may end reasoning without an opening tag. `<|end|>` also ends answers, and words may be part of them. */
const CLOSING_TAGS: readonly string[] = TAGS.map(([, close]) => close).filter(
  (close) => close !== "<|end|>" && !close.endsWith(":"),
);
/** Headers that gpt-oss writes before its messages. */
const HARMONY_HEADERS: readonly string[] = ["<|start|>assistant", "<|channel|>final<|message|>"];
/** Headers between reasoning and the answer. */
const ANSWER_HEADERS: readonly string[] = [...HARMONY_HEADERS, "<|begin_of_solution|>", "<|start_response|>"];
/** Tokens that end an answer with one of these headers. */
const ANSWER_ENDS: readonly string[] = ["<|return|>", "<|end|>", "<|end_of_solution|>", "<|end_response|>"];

/** Tags with which a model continues its reasoning within an answer, at the start of a line. */
const REOPENING_TAGS: readonly string[] = TAGS.map(([open]) => open).filter((open) =>
  /^<[a-z:]+>$/.test(open),
);
/** The first or last line of a code fence. */
const FENCE = /^ {0,3}(?:```|~~~)/;
/** Maximum length of the remembered start of a line, in UTF-16 code units. */
const MAX_LINE_START_CHARS = 64;

/** Typical beginnings of reasoning by DeepSeek-R1, QwQ, Qwen3, gpt-oss and Nemotron, in lower case. */
const REASONING_BEGINNINGS: readonly string[] = [
  ...["okay", "ok,", "alright", "all right", "hmm", "wait", "first,", "so, ", "so the", "let me", "let's"],
  ...["we need", "we have to", "we are", "the user", "the question", "the problem", "user ", "i need to"],
  ...["i should", "i have to", "got it", "looking at", "thinking", "to answer"],
  ...["好的", "好，", "嗯", "首先", "用户", "我需要", "我应该", "让我", "我们需要", "现在", "这个问题"],
];

type Kind = "text" | "thinking";

/** A piece of an answer, or `became`: the text so far turned out to be of this kind. */
export type TaggedPiece = { readonly kind: Kind; readonly text: string } | { readonly became: Kind };

/**
 * Separates tagged reasoning from the text after it. Reads streamed text, in which tags may be split anywhere.
 *
 * Reasoning is recognized only at the start of an answer, and if there was some, at the start of later lines outside
 * code. If the chat template of a server already contains the opening
 * tag, only the closing one arrives, and the text before it turns out to be reasoning. The first answer of a model is
 * therefore passed on as reasoning if it begins like reasoning, and becomes text if no closing tag follows. After that,
 * it is known whether the model's answers begin with reasoning.
 */
export class ThinkTags {
  #state: "start" | "thinking" | "gap" | "text" | "answer" | "later" | "done" = "start";
  /** Tags that end the current reasoning. */
  #closing: readonly string[] = CLOSING_TAGS;
  /** Text that may turn out to be part of a tag. */
  #held = "";
  /** The text of an answer without an opening tag, while it may turn out to be reasoning. */
  #text = "";
  /** The kind with which that text is passed on. */
  #kind: Kind = "text";
  /** True while the current reasoning has no opening tag. */
  #unopened: boolean;
  /** True if a header preceded the answer. */
  #hasHeader = false;
  /** The start of the current line of the answer after reasoning, and true if that line is in a code fence. */
  #line = "";
  #isFenced = false;
  /** True once that answer has begun. The first line is not the start of a later one. */
  #hasLines = false;
  readonly #startsThinking: boolean | undefined;
  readonly #learn: (startsThinking: boolean) => void;

  /**
   * @param startsThinking whether the answer begins with reasoning without an opening tag; `undefined` if unknown
   * @param learn called when the answer shows whether the model's answers begin like this
   */
  constructor(startsThinking: boolean | undefined, learn: (startsThinking: boolean) => void = () => {}) {
    this.#startsThinking = startsThinking;
    this.#unopened = startsThinking === true;
    this.#learn = learn;
  }

  push(piece: string): TaggedPiece[] {
    if (this.#state === "done") return piece === "" ? [] : [{ kind: "text", text: piece }];
    this.#held += piece;
    return this.#read(false, false);
  }

  /**
   * Returns the text that was held back.
   *
   * @param complete false if the answer was truncated or a tool call follows
   */
  end(complete: boolean): TaggedPiece[] {
    const pieces = this.#read(true, complete);
    const isText = this.#state === "text";
    // Reasoning with neither an opening nor a closing tag is the answer.
    const isAnswer = isText
      ? this.#kind === "thinking"
      : this.#state === "thinking" && this.#unopened && complete;
    if (isAnswer) pieces.push({ became: "text" });
    if (isText && complete && this.#startsThinking === undefined && this.#text.trim() !== "")
      this.#learn(false);
    this.#state = "done";
    return pieces;
  }

  #read(last: boolean, complete: boolean): TaggedPiece[] {
    const out: TaggedPiece[] = [];
    if (this.#state === "start" && !this.#readStart(last)) return out;
    for (;;) {
      if (this.#state === "thinking" && !this.#readThinking(last, out)) return out;
      if (this.#state === "gap" && !this.#readGap(last)) return out;
      if (this.#state === "later") this.#readLater(last, out);
      if (this.#state !== "thinking") break;
    }
    if (this.#state === "text") this.#readText(last, complete, out);
    else if (this.#state === "answer") this.#readAnswer(last, out);
    else if (this.#state === "done") this.#say("text", this.#take(this.#held.length), out);
    return out;
  }

  /** Determines how the answer begins. Returns true if enough of it has arrived. */
  #readStart(last: boolean): boolean {
    const text = this.#held.trimStart();
    const lower = toLowerCase(text);
    const begins = (words: readonly string[]): boolean => words.some((word) => lower.startsWith(word));
    const mayBegin = (words: readonly string[]): boolean => words.some((word) => word.startsWith(lower));
    if (!last && mayBegin([...TAGS.map(([open]) => `${open}\r`), ...HARMONY_HEADERS])) return false;
    if (this.#open(text)) return true;
    if (begins(HARMONY_HEADERS)) {
      this.#state = "gap";
      return true;
    }
    const isUnknown = this.#startsThinking === undefined;
    if (isUnknown && !last && mayBegin(REASONING_BEGINNINGS)) return false;
    if (isUnknown && begins(REASONING_BEGINNINGS)) this.#kind = "thinking";
    this.#state = this.#unopened ? "thinking" : "text";
    return true;
  }

  /** Begins reasoning if `text` starts with an opening tag. One line break after the tag is part of it. */
  #open(text: string): boolean {
    const lower = toLowerCase(text);
    const tag = TAGS.find(([open]) => lower.startsWith(open));
    if (tag === undefined) return false;
    this.#held = text.slice(tag[0].length).replace(/^\r?\n/, "");
    this.#closing = [tag[1]];
    this.#state = "thinking";
    this.#unopened = false;
    return true;
  }

  /** Reads reasoning up to its closing tag. Returns true if it has ended. */
  #readThinking(last: boolean, out: TaggedPiece[]): boolean {
    const found = this.#findClosing();
    const safe = last ? this.#held.length : this.#held.length - heldTail(this.#held, this.#closing);
    this.#say("thinking", this.#take(found?.at ?? safe), out);
    if (found === undefined) return false;
    this.#take(found.tag.length);
    this.#state = "gap";
    return true;
  }

  /** Skips the text between reasoning and the answer. Returns true if the answer, or more reasoning, has begun. */
  #readGap(last: boolean): boolean {
    for (;;) {
      this.#held = this.#held.trimStart();
      const lower = toLowerCase(this.#held);
      const header = ANSWER_HEADERS.find((word) => lower.startsWith(word));
      if (header === undefined) break;
      this.#hasHeader = true;
      this.#take(header.length);
    }
    if (this.#held === "") return false;
    const words = [...ANSWER_HEADERS, ...TAGS.map(([open]) => `${open}\r`)];
    const lower = toLowerCase(this.#held);
    if (!last && words.some((word) => word.startsWith(lower))) return false;
    if (!this.#open(this.#held)) this.#state = this.#hasHeader ? "answer" : "later";
    return true;
  }

  /** Reads an answer after reasoning, up to a line that begins with more reasoning. */
  #readLater(last: boolean, out: TaggedPiece[]): void {
    for (let from = 0; ; ) {
      const lower = toLowerCase(this.#held);
      const found = REOPENING_TAGS.map((tag) => ({ tag, at: lower.indexOf(tag, from) }))
        .filter(({ at }) => at >= 0)
        .toSorted((a, b) => a.at - b.at)[0];
      if (found === undefined) {
        const tail = last ? 0 : heldTail(this.#held, REOPENING_TAGS);
        this.#sayLater(this.#held.length - tail, out);
        return;
      }
      this.#sayLater(found.at, out);
      if (this.#hasLines && !this.#isFenced && this.#line.trim() === "") {
        this.#open(this.#held);
        // Without a closing tag, the model only mentions the tag.
        this.#unopened = true;
        return;
      }
      from = found.tag.length;
    }
  }

  #sayLater(length: number, out: TaggedPiece[]): void {
    const text = this.#take(length);
    this.#say("text", text, out);
    const lines = (this.#line + text).split("\n");
    this.#line = (lines.pop() ?? "").slice(0, MAX_LINE_START_CHARS);
    if (lines.filter((line) => FENCE.test(line)).length % 2 === 1) this.#isFenced = !this.#isFenced;
    this.#hasLines ||= lines.length > 0;
  }

  /** Reads an answer after a header, up to the token that ends it. */
  #readAnswer(last: boolean, out: TaggedPiece[]): void {
    const lower = toLowerCase(this.#held);
    const [end] = ANSWER_ENDS.map((mark) => lower.indexOf(mark))
      .filter((at) => at >= 0)
      .sort((a, b) => a - b);
    const isEnd = end !== undefined && ANSWER_ENDS.includes(lower.slice(end).trimEnd());
    const safe = last ? this.#held.length : this.#held.length - heldTail(this.#held, ANSWER_ENDS);
    this.#say("text", this.#take(isEnd ? end : safe), out);
    if (last) this.#held = "";
  }

  /** Reads an answer that began without a tag, and searches for a tag that closes reasoning. */
  #readText(last: boolean, complete: boolean, out: TaggedPiece[]): void {
    const found = this.#findClosing();
    // The text after the tag determines whether it closes reasoning.
    const isLast = found !== undefined && this.#held.slice(found.at + found.tag.length).trim() === "";
    if (isLast && (!last || complete)) {
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
      if (this.#kind === "thinking") out.push({ became: "text" });
      this.#state = "done";
      return;
    }
    this.#sayText(found.at, out);
    this.#take(found.tag.length);
    if (this.#text.trim() !== "" && this.#kind === "text") out.push({ became: "thinking" });
    this.#learn(true);
    this.#state = "gap";
    if (this.#readGap(last)) out.push(...this.#read(last, complete));
  }

  /** Returns true if a closing tag is quoted, in code, or the counterpart of an opening tag in the text. */
  #isMentioned({ at, tag }: { readonly at: number; readonly tag: string }): boolean {
    const before = toLowerCase(this.#text + this.#held.slice(0, at));
    const after = this.#held.slice(at + tag.length);
    const isQuoted = /[`'"“(]$/.test(before) || /^[`'"”)]/.test(after);
    const isInCode = (before.match(/```/g)?.length ?? 0) % 2 === 1;
    return isQuoted || isInCode || TAGS.some(([open]) => before.includes(open));
  }

  #findClosing(): { readonly at: number; readonly tag: string } | undefined {
    const lower = toLowerCase(this.#held);
    const found = this.#closing.map((tag) => ({ at: lower.indexOf(tag), tag })).filter(({ at }) => at >= 0);
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
    this.#say(this.#kind, text, out);
  }

  #say(kind: Kind, text: string, out: TaggedPiece[]): void {
    if (text !== "") out.push({ kind, text });
  }
}

/**
 * Creates the reader of one answer.
 *
 * @param startsThinking the model's quirk
 * @param learn remembers the quirk for the next answers
 */
export function createThinkTags(
  startsThinking: boolean | undefined,
  { thinking = "off" }: StreamOptions,
  learn: (quirks: JsonObject) => void,
): ThinkTags {
  // An answer without reasoning does not show how answers with reasoning begin.
  const known = thinking === "off" ? startsThinking : startsThinking || undefined;
  return new ThinkTags(known, (starts) => learn({ startsThinking: starts }));
}

/** Lowercases only ASCII letters, so that indexes into the text stay the same. */
function toLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the number of characters at the end of a text that may begin one of these words. */
function heldTail(text: string, words: readonly string[]): number {
  const lower = toLowerCase(text);
  const longest = Math.max(...words.map((word) => word.length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const tail = lower.slice(-length);
    if (words.some((word) => word.startsWith(tail))) return length;
  }
  return 0;
}
