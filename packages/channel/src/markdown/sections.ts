import { createFenceTracker } from "./fences.ts";

/** Syntax that connects distant parts: link definitions, footnotes, and HTML that may contain blank lines. */
const CONNECTS_SECTIONS = /^ {0,3}(?:\[[^\]\n]+\]:|<(?:[!?]|(?:script|pre|style|textarea)\b))|\[\^/im;
/** A fence inside a list item or a quote. The code block ends at the end of its container. */
const NESTED_FENCE = /^(?:[ \t]|[-+*>]|\d{1,9}[.)]).*(?:`{3}|~{3})/m;
/** A line that continues the previous list item or quote after a blank line. */
const CONTINUES = /^(?:[ \t>]|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))/;

/**
 * Splits Markdown at blank lines where one block certainly ends and another begins. The concatenated sections are the
 * original text. They can be parsed independently, which is much faster for a long text. A text whose parts depend on
 * each other is a single section.
 */
export function splitSections(text: string): string[] {
  if (CONNECTS_SECTIONS.test(text) || NESTED_FENCE.test(text)) return [text];
  const fences = createFenceTracker();
  const starts: number[] = [];
  let at = 0;
  let isAfterBlank = false;
  for (const line of text.split("\n")) {
    const isInCode = fences.isOpen;
    fences.read(line);
    if (isAfterBlank && !isInCode && line !== "" && !CONTINUES.test(line)) starts.push(at);
    isAfterBlank = line.trim() === "";
    at += line.length + 1;
  }
  return [0, ...starts].map((start, index) => text.slice(start, starts[index])).filter((each) => each !== "");
}
