export type Inline =
  | string
  | { type: "code"; text: string }
  | { type: "strong" | "em" | "del"; children: Inline[] }
  | { type: "link"; href: string; children: Inline[] }
  | { type: "break" };

const MAX_DEPTH = 6;
const SPECIAL = /[\\`*_~[\n]|!\[|https?:\/\//g;
const ESCAPED = /^[!-/:-@[-`{-~]$/;
const MAX_LABEL = 500;
/** What follows a label; bounded in every part, so that a hostile text costs no more than its length. */
const ADDRESS = /\( {0,9}<?((?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000})>?(?: {1,9}"[^"\n]{0,300}")? {0,9}\)/y;
/** Ends at the first East Asian character, since those languages put no space behind an address. */
const BARE = /https?:\/\/[^\s<>"'`|\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]{1,2000}/y;
const WORD = /[\p{L}\p{N}_]/u;

/** Reads emphasis, code, links and line breaks within a paragraph. */
export function parseInline(text: string): Inline[] {
  return new Reader(text, 0, false).read();
}

/** The address in normal form where it is an absolute one of the web; any other is no link. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") ? url.href : undefined;
}

class Reader {
  readonly #text: string;
  readonly #depth: number;
  /** Within a link there is no other. */
  readonly #linked: boolean;
  readonly #out: Inline[] = [];
  /** Markers of which no closing one follows: looking again from further on would find none either. */
  readonly #unclosed = new Set<string>();
  #plain = "";

  constructor(text: string, depth: number, linked: boolean) {
    this.#text = text;
    this.#depth = depth;
    this.#linked = linked;
  }

  read(): Inline[] {
    let at = 0;
    while (at < this.#text.length) {
      SPECIAL.lastIndex = at;
      const special = SPECIAL.exec(this.#text);
      if (special === null) break;
      this.#plain += this.#text.slice(at, special.index);
      at = this.#special(special.index, special[0]);
    }
    this.#plain += this.#text.slice(at);
    this.#flush();
    return this.#out;
  }

  /** Reads what begins at `at`; returns where it ends. */
  #special(at: number, mark: string): number {
    switch (mark) {
      case "\n":
        return this.#push({ type: "break" }, at + 1);
      case "\\": {
        const next = this.#text.charAt(at + 1);
        this.#plain += ESCAPED.test(next) ? next : `\\${next}`;
        return at + 2;
      }
      case "`":
        return this.#code(at);
      case "[":
      case "![":
        return this.#link(at);
      case "*":
      case "_":
      case "~":
        return this.#emphasis(at, mark);
      default:
        return this.#bare(at);
    }
  }

  #code(at: number): number {
    let end = at;
    while (this.#text.charAt(end) === "`") end += 1;
    const ticks = this.#text.slice(at, end);
    let close = this.#unclosed.has(ticks) ? -1 : this.#text.indexOf(ticks, end);
    // The closing run is exactly as long as the opening one.
    while (
      close >= 0 &&
      (this.#text.charAt(close + ticks.length) === "`" || this.#text.charAt(close - 1) === "`")
    ) {
      while (this.#text.charAt(close) === "`") close += 1;
      close = this.#text.indexOf(ticks, close);
    }
    if (close < 0) {
      this.#unclosed.add(ticks);
      return this.#literal(ticks, at);
    }
    const inner = this.#text.slice(end, close).replaceAll("\n", " ");
    const padded = /^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner;
    return this.#push({ type: "code", text: padded }, close + ticks.length);
  }

  #link(at: number): number {
    const from = this.#text.indexOf("[", at) + 1;
    const length = this.#text.slice(from, from + MAX_LABEL).search(/[\]\n]/);
    ADDRESS.lastIndex = from + length + 1;
    const isLabel = length >= 0 && !this.#linked && this.#text.charAt(from + length) === "]";
    const [all = "", address = ""] = (isLabel && ADDRESS.exec(this.#text)) || [];
    const href = webAddress(address);
    if (href === undefined) return this.#literal(this.#text.charAt(at), at);
    // A picture is not fetched from elsewhere; whoever wants to see it follows the link.
    const children = length === 0 ? [address] : this.#inner(this.#text.slice(from, from + length), true);
    return this.#push({ type: "link", href, children }, from + length + 1 + all.length);
  }

  #bare(at: number): number {
    BARE.lastIndex = at;
    const found = BARE.exec(this.#text)?.[0] ?? "";
    let end = found.length;
    while (/[.,;:!?)\]*_~]/.test(found.charAt(end - 1))) {
      const isPaired = found.charAt(end - 1) === ")" && found.slice(0, end).includes("(");
      if (isPaired) break;
      end -= 1;
    }
    const shown = found.slice(0, end);
    const href = webAddress(shown);
    if (href === undefined || this.#linked) return this.#literal("http", at);
    return this.#push({ type: "link", href, children: [shown] }, at + end);
  }

  #emphasis(at: number, character: string): number {
    const isDouble = this.#text.charAt(at + 1) === character;
    const mark = isDouble ? character + character : character;
    if (mark === "~") return this.#literal(mark, at);
    const from = at + mark.length;
    const opens =
      !isSpace(this.#text.charAt(from)) && !(character === "_" && isWord(this.#text.charAt(at - 1)));
    const close = opens && this.#depth < MAX_DEPTH ? this.#closing(mark, from) : -1;
    if (close <= from) return this.#literal(mark, at);
    const type = character === "~" ? "del" : isDouble ? "strong" : "em";
    const children = this.#inner(this.#text.slice(from, close));
    return this.#push({ type, children }, close + mark.length);
  }

  #closing(mark: string, from: number): number {
    if (this.#unclosed.has(mark)) return -1;
    const character = mark.charAt(0);
    for (let at = this.#text.indexOf(mark, from); at >= 0; at = this.#text.indexOf(mark, at)) {
      let end = at;
      while (this.#text.charAt(end) === character) end += 1;
      const length = end - at;
      const fits = length === mark.length || length >= 3;
      const closes =
        !isSpace(this.#text.charAt(at - 1)) && !(character === "_" && isWord(this.#text.charAt(end)));
      // The inner marker of `***both***` belongs to what is inside.
      if (fits && closes && at > from) return end - mark.length;
      at = end;
    }
    this.#unclosed.add(mark);
    return -1;
  }

  #inner(text: string, linked = this.#linked): Inline[] {
    return this.#depth < MAX_DEPTH ? new Reader(text, this.#depth + 1, linked).read() : [text];
  }

  #literal(text: string, at: number): number {
    this.#plain += text;
    return at + text.length;
  }

  #push(inline: Inline, end: number): number {
    this.#flush();
    this.#out.push(inline);
    return end;
  }

  #flush(): void {
    if (this.#plain !== "") this.#out.push(this.#plain);
    this.#plain = "";
  }
}

/** True at the ends of the text as well. */
function isSpace(character: string): boolean {
  return character.trim() === "";
}

function isWord(character: string): boolean {
  return WORD.test(character);
}
