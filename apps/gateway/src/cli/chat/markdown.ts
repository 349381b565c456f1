const ESCAPE = "\u001b[";
const BOLD = `${ESCAPE}1m`;
const CODE = `${ESCAPE}36m`;
const DIM = `${ESCAPE}2m`;
const RESET = `${ESCAPE}0m`;

/** Shows Markdown on a terminal while it arrives. */
export interface MarkdownStyler {
  /** Returns the styled text. The end of the piece may be held back until its meaning is clear. */
  style(piece: string): string;
  /** Returns the rest, and resets all styles. */
  end(): string;
}

/**
 * Creates a styler for bold text, headings, inline code and code blocks, whose marks become colors. Everything else is
 * shown as it is written.
 */
export function createMarkdownStyler(): MarkdownStyler {
  let held = "";
  let isLineStart = true;
  let isBold = false;
  let isCode = false;
  let isHeading = false;
  let isBlock = false;

  const restyle = (): string =>
    RESET + (isBlock ? DIM : "") + (isBold || isHeading ? BOLD : "") + (isCode ? CODE : "");

  /** Returns the styled beginning of the text and its length, or undefined if more text is needed. */
  const takeNext = (text: string, isEnd: boolean): readonly [string, number] | undefined => {
    const [first = ""] = text;
    if (first === "\n") {
      const hadStyle = isHeading || isBold || isCode;
      isLineStart = true;
      isHeading = false;
      isBold = false;
      isCode = false;
      return [hadStyle ? `${restyle()}\n` : "\n", 1];
    }
    if (isLineStart) {
      const [marks = ""] = /^(?:`{1,3}|#{1,6} ?)?/.exec(text) ?? [];
      if (marks.length === text.length && !isEnd) return undefined;
      isLineStart = false;
      if (marks === "```") {
        isBlock = !isBlock;
        return [isBlock ? `${restyle()}${marks}` : `${marks}${restyle()}`, 3];
      }
      if (!isBlock && /^#+ $/.test(marks)) {
        isHeading = true;
        return [restyle(), marks.length];
      }
    }
    if (isBlock) return [first, first.length];
    if (first === "`") {
      isCode = !isCode;
      return [restyle(), 1];
    }
    if (first === "*" && !isCode) {
      if (text === "*" && !isEnd) return undefined;
      if (text === "**" && !isBold && !isEnd) return undefined;
      if (text.startsWith("**") && (isBold || /^\S/.test(text.slice(2)))) {
        isBold = !isBold;
        return [restyle(), 2];
      }
    }
    return [first, first.length];
  };

  const take = (isEnd: boolean): string => {
    let styled = "";
    while (held !== "") {
      const next = takeNext(held, isEnd);
      if (next === undefined) break;
      styled += next[0];
      held = held.slice(next[1]);
    }
    return styled;
  };

  return {
    style(piece) {
      held += piece;
      return take(false);
    },
    end() {
      const rest = take(true);
      const isStyled = isBold || isCode || isHeading || isBlock;
      isLineStart = true;
      isBold = false;
      isCode = false;
      isHeading = false;
      isBlock = false;
      return isStyled ? `${rest}${RESET}` : rest;
    },
  };
}
