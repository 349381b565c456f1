import { remembered } from "./remembered.ts";

/** How the cache boundary is shown to people. It is never part of what a model is sent. */
export const CACHE_BOUNDARY = "<<<CACHE_BOUNDARY>>>";

/** Format characters (marks of direction, tags, soft hyphens) and letters without ink; Arabic signs among them show. */
const HIDDEN = /(?![\u0600-\u0605\u06DD\u070F\u08E2])(?:\p{Cf}|\u034F|[\u115F\u1160\u2800\u3164\uFFA0])/gu;
/** As `HIDDEN`, without the joiners that emoji and several scripts need in running text. */
const HIDDEN_IN_TEXT =
  /(?![\u0600-\u0605\u06DD\u070F\u08E2\u200C\u200D])(?:\p{Cf}|\u034F|[\u115F\u1160\u2800\u3164\uFFA0])/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
const LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

const BOUNDARY = /[<＜‹«]{2}\s*CACHE[\s_-]?BOUNDARY\s*[>＞›»]{2}/gi;
const OWN_TAGS = /<(?=[\s\u200C\u200D]*(?:\/[\s\u200C\u200D]*)?(?:workspace_file|available_skills)\b)/gi;
/** A line that Markdown, or a reader in a hurry, takes for a heading. */
const HEADING = /^((?:[^\S\n]|[\u200C\u200D])*)(?:([#＃﹟]+)(?=\s|[\u200C\u200D]|$)|([#＃﹟]{2,}))/u;
/** Under a line of text it makes that line a heading of the first two levels. */
const UNDERLINE = /^[ \t]*(?:=+|-{2,})[ \t]*$/;

/** Removes control and direction characters and brings all line breaks to `\n`. */
export function cleanText(text: string): string {
  return text.replace(LINE_BREAKS, "\n").replace(CONTROLS, "").replace(HIDDEN_IN_TEXT, "");
}

/**
 * One line without control, direction or invisible characters, at most `max` UTF-16 units, and without our own marks.
 */
export function oneLine(text: string, max: number): string {
  const line = withoutMarks(
    text
      .replace(LINE_BREAKS, " ")
      .replace(/[\n\t]/g, " ")
      .replace(CONTROLS, "")
      .replace(HIDDEN, "")
      .replace(/ {2,}/g, " ")
      .trim()
      .toWellFormed(),
  );
  return line.length <= max ? line : `${cutWell(line, max - 1)}…`;
}

/** The first `max` UTF-16 units, never half a character. */
export function cutWell(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/**
 * Text that someone else wrote, made fit for a section: its headings are lowered by two levels (so that none is of a
 * section's level), and it can neither show the boundary marker nor open or close one of our elements.
 */
export const neutralise: (text: string) => string = remembered(50, neutralised);

function neutralised(text: string): string {
  let above = "";
  const lines = withoutMarks(cleanText(text))
    .split("\n")
    .map((line) => {
      const underlined = UNDERLINE.test(line) && above.trim() !== "";
      above = line;
      return underlined ? `\\${line.trimStart()}` : lowered(line);
    });
  return lines.join("\n");
}

function lowered(line: string): string {
  return line.replace(HEADING, (match, space: string, spaced?: string, tight?: string) => {
    const level = (spaced ?? tight ?? "").length;
    return level > 6 ? match : `${space}${"#".repeat(Math.min(6, level + 2))}`;
  });
}

function withoutMarks(text: string): string {
  return text.replace(BOUNDARY, "[cache boundary]").replace(OWN_TAGS, "&lt;");
}

const SKILLS_OPEN = "<available_skills>";
const SKILLS_CLOSE = "</available_skills>";

/** The skills' catalogue: as `neutralise`, but the outermost element of the block stays. */
export function neutraliseSkills(text: string): string {
  const open = text.indexOf(SKILLS_OPEN);
  const close = text.lastIndexOf(SKILLS_CLOSE);
  if (open < 0 || close < open) return neutralise(text);
  const inner = neutralise(text.slice(open + SKILLS_OPEN.length, close));
  const before = neutralise(text.slice(0, open));
  const after = neutralise(text.slice(close + SKILLS_CLOSE.length));
  return `${before}${SKILLS_OPEN}${inner}${SKILLS_CLOSE}${after}`;
}
