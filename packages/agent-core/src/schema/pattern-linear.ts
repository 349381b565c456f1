import type { PatternNode } from "./pattern-parse.ts";

const MOST_PARTS = 2_000;
/** Parts times characters. */
const MOST_WORK = 5_000_000;

type Part =
  | { readonly type: "atom"; readonly test: (char: string) => boolean }
  | { readonly type: "assert"; readonly kind: "^" | "$" | "b" | "B" }
  | { readonly type: "go"; readonly to: number[] }
  | { readonly type: "match" };

const WORD = /\w/;

/** Matches in one pass: at each character it knows every part of the pattern the text may have come to. */
export class LinearPattern {
  readonly #parts: Part[] = [];
  readonly #unicode: boolean;
  /** `false` where the pattern is too large, or holds what only the engine can match. */
  readonly #usable: boolean;

  constructor(node: PatternNode, unicode: boolean) {
    this.#unicode = unicode;
    this.#usable = this.#add(node) && this.#push({ type: "match" });
  }

  /** Also `true` where the pattern, or the text for it, is too long. */
  test(text: string): boolean {
    if (!this.#usable || text.length * this.#parts.length > MOST_WORK) return true;
    const chars = this.#unicode ? Array.from(text) : text.split("");
    const seen = new Int32Array(this.#parts.length).fill(-1);
    let now: number[] = [];
    for (let at = 0; at <= chars.length; at++) {
      const char = chars[at];
      const before = chars[at - 1];
      const next: number[] = [];
      // A match may begin anywhere.
      const open = [...now, 0];
      for (let part = open.pop(); part !== undefined; part = open.pop()) {
        if (seen[part] === at) continue;
        seen[part] = at;
        const known = this.#parts[part];
        if (known === undefined) continue;
        if (known.type === "match") return true;
        if (known.type === "go") open.push(...known.to);
        else if (known.type === "assert") {
          if (holds(known.kind, before, char)) open.push(part + 1);
        } else if (char !== undefined && known.test(char)) next.push(part + 1);
      }
      now = next;
    }
    return false;
  }

  #push(part: Part): boolean {
    this.#parts.push(part);
    return this.#parts.length <= MOST_PARTS;
  }

  #add(node: PatternNode): boolean {
    switch (node.type) {
      case "atom":
        return this.#push({ type: "atom", test: atomTest(node.source, this.#unicode) });
      case "assert":
        return this.#push(node);
      case "all":
        return node.nodes.every((part) => this.#add(part));
      case "group":
        return this.#add(node.node);
      case "any":
        return this.#addAny(node.nodes);
      case "repeat":
        return this.#addRepeat(node.node, node.min, node.max);
      case "native":
        return false;
    }
  }

  #addAny(nodes: readonly PatternNode[]): boolean {
    const starts: number[] = [];
    const ends: number[][] = [];
    if (!this.#push({ type: "go", to: starts })) return false;
    for (const node of nodes) {
      starts.push(this.#parts.length);
      const end: number[] = [];
      ends.push(end);
      if (!this.#add(node) || !this.#push({ type: "go", to: end })) return false;
    }
    for (const end of ends) end.push(this.#parts.length);
    return true;
  }

  #addRepeat(node: PatternNode, min: number, max: number): boolean {
    for (let i = 0; i < min; i++) {
      const before = this.#parts.length;
      if (!this.#add(node)) return false;
      // Nothing, however often.
      if (this.#parts.length === before) break;
    }
    if (max === Number.POSITIVE_INFINITY) {
      const start = this.#parts.length;
      const way: number[] = [start + 1];
      if (!this.#push({ type: "go", to: way }) || !this.#add(node)) return false;
      if (!this.#push({ type: "go", to: [start] })) return false;
      way.push(this.#parts.length);
      return true;
    }
    const ways: number[][] = [];
    for (let i = min; i < max; i++) {
      const way: number[] = [this.#parts.length + 1];
      ways.push(way);
      if (!this.#push({ type: "go", to: way }) || !this.#add(node)) return false;
    }
    for (const way of ways) way.push(this.#parts.length);
    return true;
  }
}

/** What matches one character, as the engine has it. */
function atomTest(source: string, unicode: boolean): (char: string) => boolean {
  const one = new RegExp(`^(?:${source})$`, unicode ? "u" : "");
  return (char) => one.test(char);
}

function holds(kind: "^" | "$" | "b" | "B", before: string | undefined, after: string | undefined): boolean {
  if (kind === "^") return before === undefined;
  if (kind === "$") return after === undefined;
  const edge = isWord(before) !== isWord(after);
  return kind === "b" ? edge : !edge;
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && WORD.test(char);
}
