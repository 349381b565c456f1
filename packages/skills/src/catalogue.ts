import { relative, sep } from "node:path";
import { isInside } from "./fs.ts";
import type { Pacer } from "./pacer.ts";
import { isRankable, sortByRelevance } from "./relevance.ts";
import type { Skill } from "./skill.ts";
import { oneLine, sha256 } from "./text.ts";

/** The list of skills for the system prompt. */
export interface SkillCatalogue {
  /** `<available_skills>…</available_skills>` and notes. Empty if there is no skill. */
  readonly text: string;
  /** Ids in the order of the text. */
  readonly included: readonly string[];
  /** Ids of the skills that did not fit. */
  readonly omitted: readonly string[];
  /** The first 12 hexadecimal digits of the SHA-256 of the text. */
  readonly version: string;
}

export interface CatalogueOptions {
  /** Default: 150. */
  readonly maxSkills?: number;
  /** Maximum length of the text in UTF-16 units. Default: 30,000. */
  readonly maxChars?: number;
  /**
   * A text that the skills should be relevant to, such as the first message of a conversation. If some skills do not
   * fit, the least relevant ones are left out. Default: skills of the sources with the lowest precedence are left out.
   */
  readonly relevantTo?: string;
}

/** Room for the note about skills that were left out. */
const NOTE_CHARS = 300;
/** Length of a description if whole ones do not fit. */
const SHORT_DESCRIPTION_CHARS = 80;
/** Length of the list of skills that cannot be used. */
const UNAVAILABLE_CHARS = 1_500;
const OPEN = "<available_skills>\n";
const CLOSE = "</available_skills>";

/** The content of a catalogue. */
export interface CatalogueContent {
  /** The most important first. */
  readonly skills: readonly Skill[];
  /** Skills of the agent that cannot be used here. */
  readonly unavailable: readonly UnavailableSkill[];
  readonly entries: CatalogueEntries;
  /** Added after the list. */
  readonly note: string | undefined;
}

/** Formats the entry of a skill, with a line break at its end. */
interface CatalogueEntries {
  readonly format: (skill: Skill) => string;
  readonly formatShort: (skill: Skill) => string;
}

interface UnavailableSkill {
  readonly id: string;
  /** One sentence or more. */
  readonly reason: string;
}

/**
 * Writes the list of skills for the system prompt. If the skills do not fit, descriptions are shortened first;
 * only then are skills left out.
 */
export async function writeCatalogue(
  { skills, unavailable, entries, note }: CatalogueContent,
  { maxSkills = 150, maxChars = 30_000, relevantTo = "" }: CatalogueOptions,
  pacer: Pacer,
): Promise<SkillCatalogue> {
  const noteText = note === undefined ? "" : `\n${escapeXml(note)}`;
  const unavailableText = writeUnavailable(unavailable, Math.min(UNAVAILABLE_CHARS, maxChars / 5));
  if (skills.length === 0) {
    const text = unavailableText === "" ? "" : fit([`${unavailableText}${noteText}`.trim()], maxChars);
    return { text, included: [], omitted: [], version: text === "" ? "" : sha256(text).slice(0, 12) };
  }
  const noteChars = Math.min(NOTE_CHARS, Math.floor(maxChars / 3));
  const space = maxChars - OPEN.length - CLOSE.length - unavailableText.length - noteText.length;
  const room = { maxSkills, space, noteChars, relevantTo, entries };
  const fitting = await selectEntries(skills, room, pacer);
  const included = skills.filter((skill) => fitting.has(skill));
  const omitted = skills.filter((skill) => !fitting.has(skill)).map(({ id }) => id);
  const list = `${OPEN}${included.map((skill) => fitting.get(skill)).join("")}${CLOSE}`;
  const omittedText = writeOmitted(omitted, isRankable(relevantTo), noteChars);
  // With very little room, the notes are left out.
  const text = fit(
    [`${list}${omittedText}${unavailableText}${noteText}`, `${list}${omittedText}`, list],
    maxChars,
  );
  if (text === "") return { text, included: [], omitted: skills.map(({ id }) => id), version: "" };
  return { text, included: included.map(({ id }) => id), omitted, version: sha256(text).slice(0, 12) };
}

/** Returns the first text that is short enough, or an empty one. */
function fit(texts: readonly string[], maxChars: number): string {
  return texts.find(({ length }) => length <= maxChars) ?? "";
}

interface Room extends Required<Pick<CatalogueOptions, "maxSkills" | "relevantTo">> {
  readonly space: number;
  readonly noteChars: number;
  readonly entries: CatalogueEntries;
}

/** Selects the entries: those of all skills, shortened if necessary, or those of the most relevant skills. */
async function selectEntries(
  skills: readonly Skill[],
  { maxSkills, space, noteChars, relevantTo, entries: { format, formatShort } }: Room,
  pacer: Pacer,
): Promise<ReadonlyMap<Skill, string>> {
  const formatAll = (some: readonly Skill[], formatOne: (skill: Skill) => string) =>
    new Map(some.map((skill) => [skill, formatOne(skill)]));
  if (skills.length <= maxSkills) {
    const whole = formatAll(skills, format);
    if (getLength(whole) <= space) return whole;
    const short = formatAll(skills, formatShort);
    if (getLength(short) <= space) return short;
  }
  const ranked = await sortByRelevance(skills, relevantTo, pacer);
  const chosen = ranked.slice(0, Math.min(maxSkills, skills.length - 1));
  const whole = formatAll(chosen, format);
  if (chosen.length === maxSkills && getLength(whole) <= space - noteChars) return whole;
  return takeFitting(formatAll(chosen, formatShort), space - noteChars);
}

/** Formats entries, and caches them. */
export function createEntries(locate: (skill: Skill) => string): CatalogueEntries {
  const cached = (convert: (skill: Skill) => Skill) => {
    const entries = new Map<Skill, string>();
    return (skill: Skill): string => {
      const entry = entries.get(skill) ?? `${formatEntry(convert(skill), locate(skill))}\n`;
      entries.set(skill, entry);
      return entry;
    };
  };
  return { format: cached((skill) => skill), formatShort: cached(shorten) };
}

function shorten(skill: Skill): Skill {
  return { ...skill, description: oneLine(skill.description, SHORT_DESCRIPTION_CHARS) };
}

/** Lists skills that cannot be used, so that the agent can say why instead of trying. */
function writeUnavailable(skills: readonly UnavailableSkill[], maxChars: number): string {
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let length = 0;
  for (const { id, reason } of skills) {
    const line = `- ${escapeXml(id)}: ${escapeXml(oneLine(reason, 200))}`;
    length += line.length + 1;
    if (length > maxChars) break;
    lines.push(line);
  }
  const more = skills.length - lines.length;
  const rest = more === 0 ? "" : `\n- and ${more} more`;
  return `\nNot usable here until what they lack is there:\n${lines.join("\n")}${rest}`;
}

function getLength(entries: ReadonlyMap<Skill, string>): number {
  return [...entries.values()].reduce((sum, entry) => sum + entry.length, 0);
}

function takeFitting(entries: ReadonlyMap<Skill, string>, space: number): ReadonlyMap<Skill, string> {
  let length = 0;
  const tooLong = [...entries.values()].findIndex((entry) => {
    length += entry.length;
    return length > space;
  });
  return tooLong < 0 ? entries : new Map([...entries].slice(0, tooLong));
}

function formatEntry({ name, description, version }: Skill, location: string): string {
  return [
    "<skill>",
    `<name>${escapeXml(name)}</name>`,
    `<description>${escapeXml(description)}</description>`,
    `<location>${escapeXml(location)}</location>`,
    `<version>${version}</version>`,
    "</skill>",
  ].join("\n");
}

function writeOmitted(ids: readonly string[], isRanked: boolean, maxChars: number): string {
  if (ids.length === 0) return "";
  const ranked = isRanked ? ", having less to do with this conversation" : "";
  const start = `\n${ids.length} more ${ids.length === 1 ? "skill is" : "skills are"} not listed for lack of space${ranked}: `;
  const named: string[] = [];
  let length = start.length;
  for (const id of ids) {
    const shown = escapeXml(id);
    if (length + shown.length + 20 > maxChars) break;
    named.push(shown);
    length += shown.length + 2;
  }
  return `${start}${named.join(", ")}${named.length < ids.length ? ", …" : ""}.`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

/** Escapes text between tags. Quotes need no escape there and would cost tokens. */
function escapeXml(text: string): string {
  return (
    text
      .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot contain them
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
  );
}

/** Returns a path that all tools of an agent can open: `./…` in its workspace, and absolute paths elsewhere. */
export function toAgentPath(path: string, workspaceDir: string | undefined): string {
  return workspaceDir !== undefined && isInside(path, workspaceDir)
    ? `./${toPosix(relative(workspaceDir, path))}`
    : toPosix(path);
}

function toPosix(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
