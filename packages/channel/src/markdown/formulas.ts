import type { CompileContext, Token, Extension as TreeExtension } from "mdast-util-from-markdown";
import type { Code, Construct, Effects, Extension, State, TokenizeContext } from "micromark-util-types";

declare module "micromark-util-types" {
  interface TokenTypeMap {
    formula: "formula";
    formulaText: "formulaText";
  }
}

/** The delimiters of a formula. */
interface Marks {
  readonly open: string;
  readonly close: string;
}

const DOLLAR = 36;
const BACKSLASH = 92;

/**
 * Parses formulas in the notations that models use: `$x$`, `$$x$$`, `\(x\)` and `\[x\]`. Ignores prices such as `$5 and
 * $10`.
 */
export function formulas(): Extension {
  return {
    text: {
      [DOLLAR]: [formula({ open: "$$", close: "$$" }), formula({ open: "$", close: "$" })],
      [BACKSLASH]: [formula({ open: "\\[", close: "\\]" }), formula({ open: "\\(", close: "\\)" })],
    },
  };
}

/** Adds formulas to the tree as inline code with `data.formula`. */
export function formulasFromMarkdown(): TreeExtension {
  return { enter: { formula: enterFormula }, exit: { formula: exitFormula } };
}

function enterFormula(this: CompileContext, token: Token): void {
  const written = this.sliceSerialize(token);
  const isInline = /^(?:\$(?!\$)|\\\()/.test(written);
  const marks = written.startsWith("$") && isInline ? 1 : 2;
  const value = written.slice(marks, -marks).trim();
  this.enter({ type: "inlineCode", value, data: { formula: isInline ? "inline" : "display" } }, token);
}

function exitFormula(this: CompileContext, token: Token): void {
  this.exit(token);
}

function formula(marks: Marks): Construct {
  return {
    name: "formula",
    tokenize(effects, ok, nok) {
      return new FormulaReader(marks, this, effects, ok, nok).start;
    },
  };
}

/** The tokenizer states for one formula. Each consumes the next character. */
class FormulaReader {
  readonly #marks: Marks;
  readonly #context: TokenizeContext;
  readonly #effects: Effects;
  readonly #ok: State;
  readonly #nok: State;
  #opened = 0;
  /** The character before a possible closing delimiter. */
  #before: Code = null;
  /** True if the formula contains more than whitespace. */
  #hasText = false;

  constructor(marks: Marks, context: TokenizeContext, effects: Effects, ok: State, nok: State) {
    this.#marks = marks;
    this.#context = context;
    this.#effects = effects;
    this.#ok = ok;
    this.#nok = nok;
  }

  readonly start: State = (code) => {
    // The pair has already been tried as `$$`.
    if (code === DOLLAR && this.#context.previous === DOLLAR) return this.#nok(code);
    this.#effects.enter("formula");
    this.#effects.enter("formulaText");
    return this.#open(code);
  };

  readonly #open: State = (code) => {
    const { open } = this.#marks;
    if (this.#opened === open.length) {
      const isNoFormula = code === DOLLAR || (open === "$" && isSpace(code));
      return isNoFormula ? this.#nok(code) : this.#inside(code);
    }
    if (code !== open.charCodeAt(this.#opened)) return this.#nok(code);
    this.#effects.consume(code);
    this.#opened += 1;
    return this.#open;
  };

  readonly #inside: State = (code) => {
    if (code === null) return this.#nok(code);
    if (isLineEnd(code)) return this.#endLine(code);
    const mayClose = code === this.#marks.close.charCodeAt(0);
    this.#effects.consume(code);
    if (mayClose) return this.#close;
    this.#before = code;
    this.#hasText ||= !isBlank(code);
    return this.#inside;
  };

  readonly #endLine: State = (code) => {
    this.#effects.exit("formulaText");
    this.#effects.enter("lineEnding");
    this.#effects.consume(code);
    this.#effects.exit("lineEnding");
    this.#effects.enter("formulaText");
    this.#before = code;
    return this.#inside;
  };

  /** The state after the first character of the closing delimiter. */
  readonly #close: State = (code) => {
    const { open, close } = this.#marks;
    // Pandoc's rule: a dollar sign after a space or before a digit is a currency sign.
    if (close === "$") return isSpace(this.#before) || isDigit(code) ? this.#nok(code) : this.#done(code);
    if (code === close.charCodeAt(1)) {
      this.#effects.consume(code);
      return this.#done;
    }
    // After a second opening delimiter, the first one cannot begin a formula. Stopping here keeps the tokenizer linear.
    if (code === open.charCodeAt(1)) return this.#nok(code);
    this.#hasText = true;
    if (code !== BACKSLASH) return this.#inside(code);
    this.#effects.consume(code);
    return this.#inside;
  };

  readonly #done: State = (code) => {
    if (!this.#hasText) return this.#nok(code);
    this.#effects.exit("formulaText");
    this.#effects.exit("formula");
    return this.#ok(code);
  };
}

function isLineEnd(code: Code): boolean {
  return code !== null && code < -2;
}

function isSpace(code: Code): boolean {
  return code === null || code < 0 || code === 32;
}

/** Returns true for whitespace as defined by `trim`. */
function isBlank(code: number): boolean {
  return code < 0 || String.fromCharCode(code).trim() === "";
}

function isDigit(code: Code): boolean {
  return code !== null && code >= 48 && code <= 57;
}
