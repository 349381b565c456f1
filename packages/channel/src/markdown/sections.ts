import { createFenceTracker } from "./fences.ts";

/** Links and footnotes may be defined further down than they are used; HTML may hold blank lines. */
const REACHES_FAR = /^ {0,3}(?:\[[^\]\n]+\]:|<(?:[!?]|(?:script|pre|style|textarea)\b))|\[\^/im;
/** Code that belongs to an item or a quote, where it ends as those do. */
const CODE_WITHIN = /^(?:[ \t]|[-+*>]|\d{1,9}[.)]).*(?:`{3}|~{3})/m;
/** What goes on with the item or the quote before, over a blank line. */
const GOES_ON = /^(?:[ \t>]|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))/;

/**
 * Cuts Markdown where one block certainly ends and another begins, whatever it is: behind blank lines, at the margin.
 * Joined again, the sections are the text. Each can be read by itself, which for a long text takes much less time than
 * to read all of it; a text whose parts depend on each other is one section.
 */
export function sectionsOf(text: string): string[] {
  if (REACHES_FAR.test(text) || CODE_WITHIN.test(text)) return [text];
  const fences = createFenceTracker();
  const starts: number[] = [];
  let at = 0;
  let isBehindBlank = false;
  for (const line of text.split("\n")) {
    const isInCode = fences.isOpen;
    fences.read(line);
    if (isBehindBlank && !isInCode && line !== "" && !GOES_ON.test(line)) starts.push(at);
    isBehindBlank = line.trim() === "";
    at += line.length + 1;
  }
  return [0, ...starts].map((start, index) => text.slice(start, starts[index])).filter((each) => each !== "");
}
