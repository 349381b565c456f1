import { LRUCache } from "lru-cache";

/** Marks the cache boundary in prompts shown to people. It is never sent to models. */
export const CACHE_BOUNDARY = "<<<CACHE_BOUNDARY>>>";

/** Format characters (direction marks, tags, soft hyphens) and blank letters, except visible Arabic signs. */
const HIDDEN = /(?![\u0600-\u0605\u06DD\u070F\u08E2])(?:\p{Cf}|\u034F|[\u115F\u1160\u2800\u3164\uFFA0])/gu;
/** Like `HIDDEN`, but without the joiners that emoji and several scripts need in running text. */
const HIDDEN_IN_TEXT =
  /(?![\u0600-\u0605\u06DD\u070F\u08E2\u200C\u200D])(?:\p{Cf}|\u034F|[\u115F\u1160\u2800\u3164\uFFA0])/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
const LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

const BOUNDARY = /[<＜‹«]{2}\s*CACHE[\s_-]?BOUNDARY\s*[>＞›»]{2}/gi;
const OWN_TAGS = /<(?=[\s\u200C\u200D]*(?:\/[\s\u200C\u200D]*)?(?:workspace_file|available_skills)\b)/gi;
/** A line that Markdown renders as a heading, or that looks like one. */
const HEADING = /^((?:[^\S\n]|[\u200C\u200D])*)(?:([#＃﹟]+)(?=\s|[\u200C\u200D]|$)|([#＃﹟]{2,}))/u;
/** An underline that turns the line above into a heading. */
const UNDERLINE = /^[ \t]*(?:=+|-{2,})[ \t]*$/;

/** Removes control and direction characters and normalizes line breaks to `\n`. */
export function cleanText(text: string): string {
  return text.replace(LINE_BREAKS, "\n").replace(CONTROLS, "").replace(HIDDEN_IN_TEXT, "");
}

/**
 * Reduces a text to one line of at most `max` UTF-16 units, without control, direction or invisible characters and
 * without the marks of this package.
 */
export function oneLine(text: string, max: number): string {
  const line = removeMarks(
    text
      .replace(LINE_BREAKS, " ")
      .replace(/[\n\t]/g, " ")
      .replace(CONTROLS, "")
      .replace(HIDDEN, "")
      .replace(/ {2,}/g, " ")
      .trim()
      .toWellFormed(),
  );
  return line.length <= max ? line : `${truncate(line, max - 1)}…`;
}

/** Returns the first `max` UTF-16 units without splitting a character. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/**
 * Makes foreign text safe for a section: lowers its headings by two levels, so that none has the level of a section,
 * and escapes the boundary marker and this package's elements.
 */
export function neutralize(text: string): string {
  const cached = neutralized.get(text) ?? neutralizeText(text);
  neutralized.set(text, cached);
  return cached;
}

/** Workspace files and skills are mostly the same in every prompt. */
const neutralized = new LRUCache<string, string>({ max: 50 });

function neutralizeText(text: string): string {
  let above = "";
  const lines = removeMarks(cleanText(text))
    .split("\n")
    .map((line) => {
      const underlined = UNDERLINE.test(line) && above.trim() !== "";
      above = line;
      return underlined ? `\\${line.trimStart()}` : lowerHeading(line);
    });
  return lines.join("\n");
}

function lowerHeading(line: string): string {
  return line.replace(HEADING, (match, space: string, spaced?: string, tight?: string) => {
    const level = (spaced ?? tight ?? "").length;
    return level > 6 ? match : `${space}${"#".repeat(Math.min(6, level + 2))}`;
  });
}

function removeMarks(text: string): string {
  return text.replace(BOUNDARY, "[cache boundary]").replace(OWN_TAGS, "&lt;");
}

const SKILLS_OPEN = "<available_skills>";
const SKILLS_CLOSE = "</available_skills>";

/** Like `neutralize`, but keeps the outermost element of the skill catalog. */
export function neutralizeSkills(text: string): string {
  const open = text.indexOf(SKILLS_OPEN);
  const close = text.lastIndexOf(SKILLS_CLOSE);
  if (open < 0 || close < open) return neutralize(text);
  const inner = neutralize(text.slice(open + SKILLS_OPEN.length, close));
  const before = neutralize(text.slice(0, open));
  const after = neutralize(text.slice(close + SKILLS_CLOSE.length));
  return `${before}${SKILLS_OPEN}${inner}${SKILLS_CLOSE}${after}`;
}
