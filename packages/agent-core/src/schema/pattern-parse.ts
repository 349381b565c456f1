/** A regular expression as a tree. `native` is what only the engine itself can match: a look around, a reference back. */
export type PatternNode =
  | { readonly type: "atom"; readonly source: string }
  | { readonly type: "assert"; readonly kind: "^" | "$" | "b" | "B" }
  | { readonly type: "all"; readonly nodes: readonly PatternNode[] }
  | { readonly type: "any"; readonly nodes: readonly PatternNode[] }
  | { readonly type: "group"; readonly node: PatternNode }
  | { readonly type: "repeat"; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly type: "native"; readonly node: PatternNode | undefined };

const QUANTIFIER = /\{(\d+)(?:(,)(\d*))?\}/y;
const LOOK = /\(\?<?[=!]/y;
const GROUP = /\((?:\?(?::|<[^=!>][^>]*>)|(?!\?))/y;
const ESCAPES = {
  unicode: /\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[\s\S])/uy,
  plain: /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[\s\S])/y,
} as const;
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y;

/** Reads a pattern that the engine has accepted. `undefined` where it holds something this does not know. */
export function parsePattern(source: string, unicode: boolean): PatternNode | undefined {
  try {
    const parser = new Parser(source, unicode);
    const node = parser.alternatives();
    return parser.isAtEnd ? node : undefined;
  } catch {
    return undefined;
  }
}

class Parser {
  readonly #source: string;
  readonly #unicode: boolean;
  #at = 0;

  constructor(source: string, unicode: boolean) {
    this.#source = source;
    this.#unicode = unicode;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#source.length;
  }

  alternatives(): PatternNode {
    const nodes = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      nodes.push(this.#sequence());
    }
    const [only] = nodes;
    return nodes.length === 1 && only !== undefined ? only : { type: "any", nodes };
  }

  #sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined || char === "|" || char === ")") return { type: "all", nodes };
      nodes.push(this.#repeated(this.#one(char)));
    }
  }

  #repeated(node: PatternNode): PatternNode {
    const bounds = this.#bounds();
    if (bounds === undefined) return node;
    // Whether it takes as much or as little as it can makes no difference to whether there is a match.
    if (this.#source[this.#at] === "?") this.#at++;
    return { type: "repeat", node, ...bounds };
  }

  #bounds(): { readonly min: number; readonly max: number } | undefined {
    const char = this.#source[this.#at];
    if (char === "*" || char === "+" || char === "?") {
      this.#at++;
      return { min: char === "+" ? 1 : 0, max: char === "?" ? 1 : Number.POSITIVE_INFINITY };
    }
    const found = this.#take(QUANTIFIER);
    if (found === undefined) return undefined;
    const [, least, comma, most] = found;
    const min = Number(least);
    if (comma === undefined) return { min, max: min };
    return { min, max: most === undefined || most === "" ? Number.POSITIVE_INFINITY : Number(most) };
  }

  #one(char: string): PatternNode {
    switch (char) {
      case "^":
      case "$":
        this.#at++;
        return { type: "assert", kind: char };
      case "(":
        return this.#group();
      case "[":
        return { type: "atom", source: this.#need(CLASS) };
      case "\\":
        return this.#escape();
      default: {
        const code = this.#source.codePointAt(this.#at) ?? 0;
        const source = this.#unicode ? String.fromCodePoint(code) : char;
        this.#at += source.length;
        // A brace that opens no quantifier is itself.
        return {
          type: "atom",
          source: source === "{" || source === "}" || source === "]" ? `\\${source}` : source,
        };
      }
    }
  }

  #escape(): PatternNode {
    const source = this.#need(this.#unicode ? ESCAPES.unicode : ESCAPES.plain);
    if (source === "\\b") return { type: "assert", kind: "b" };
    if (source === "\\B") return { type: "assert", kind: "B" };
    // A surrogate may be half of a character, and a number a group or a character.
    if (/^\\(?:[1-9k]|u[dD][89a-fA-F])/.test(source)) return { type: "native", node: undefined };
    return { type: "atom", source };
  }

  #group(): PatternNode {
    const look = this.#take(LOOK) !== undefined;
    if (!look) this.#need(GROUP);
    const node = this.alternatives();
    if (this.#source[this.#at] !== ")") throw new Error("not closed");
    this.#at++;
    return look ? { type: "native", node } : { type: "group", node };
  }

  #take(token: RegExp): RegExpExecArray | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source);
    if (found === null) return undefined;
    this.#at = token.lastIndex;
    return found;
  }

  #need(token: RegExp): string {
    const found = this.#take(token);
    if (found === undefined) throw new Error("not known");
    return found[0];
  }
}
