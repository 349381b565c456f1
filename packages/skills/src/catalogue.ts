import { relative, sep } from "node:path";
import { isInside } from "./fs.ts";
import { oneLine, sha256 } from "./ids.ts";
import type { Skill } from "./skill.ts";

/** The list of skills in the system prompt. */
export interface SkillCatalogue {
  /** `<available_skills>…</available_skills>` and notes; empty where there is no skill. */
  readonly text: string;
  /** Ids, in the order of the text. */
  readonly included: readonly string[];
  /** Ids of those left out for want of space. */
  readonly omitted: readonly string[];
  /** The first 12 hexadecimal digits of the SHA-256 of the text. */
  readonly version: string;
}

export interface CatalogueOptions {
  /** Default 150. */
  readonly maxSkills?: number;
  /** Length of the text in UTF-16 units. Default 30,000. */
  readonly maxChars?: number;
}

/** Length kept free for the sentence about what was left out. */
const NOTE_CHARS = 300;
/** Of a description, where there is no space for whole ones. */
const SHORT_DESCRIPTION = 80;
/** Of the lines about what cannot be used. */
const UNAVAILABLE_CHARS = 1_500;
const OPEN = "<available_skills>\n";
const CLOSE = "</available_skills>";

/** What a catalogue is written of. */
export interface CatalogueContent {
  /** In the order of their importance. */
  readonly skills: readonly Skill[];
  /** Those that are meant for the agent and lack something here. */
  readonly unavailable: readonly UnavailableSkill[];
  readonly locate: (skill: Skill) => string;
  /** Told after the list. */
  readonly note: string | undefined;
}

interface UnavailableSkill {
  readonly id: string;
  /** Why, in a sentence or more. */
  readonly reason: string;
}

/**
 * Writes the list of skills for the system prompt. Where there is no space for all of them, every description is cut
 * short before any skill is left out.
 */
export function writeCatalogue(
  { skills, unavailable, locate, note }: CatalogueContent,
  { maxSkills = 150, maxChars = 30_000 }: CatalogueOptions,
): SkillCatalogue {
  const last = `${writeUnavailable(unavailable, Math.min(UNAVAILABLE_CHARS, maxChars / 5))}${note === undefined ? "" : `\n${escapeXml(note)}`}`;
  if (skills.length === 0) {
    const text = unavailable.length === 0 ? "" : last.trim();
    return { text, included: [], omitted: [], version: text === "" ? "" : sha256(text).slice(0, 12) };
  }
  const space = maxChars - OPEN.length - CLOSE.length - last.length;
  const listed = skills.slice(0, maxSkills);
  const whole = listed.map((skill) => `${writeEntry(skill, locate(skill))}\n`);
  const fitsWhole = lengthOf(whole) <= space - (listed.length < skills.length ? NOTE_CHARS : 0);
  const entries = fitsWhole
    ? whole
    : listed.map((skill) => `${writeEntry(shortened(skill), locate(skill))}\n`);
  const fitsAll = entries.length === skills.length && lengthOf(entries) <= space;
  const count = fitsAll ? entries.length : countFitting(entries, space - NOTE_CHARS, skills.length - 1);
  const included = skills.slice(0, count).map(({ id }) => id);
  const omitted = skills.slice(count).map(({ id }) => id);
  const text = `${OPEN}${entries.slice(0, count).join("")}${CLOSE}${leftOut(omitted)}${last}`;
  return { text, included, omitted, version: sha256(text).slice(0, 12) };
}

function shortened(skill: Skill): Skill {
  return { ...skill, description: oneLine(skill.description, SHORT_DESCRIPTION) };
}

/** So that the agent can say why it does not help, instead of trying in vain. */
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

function lengthOf(entries: readonly string[]): number {
  return entries.reduce((sum, entry) => sum + entry.length, 0);
}

/** How many of the first entries fit into a space, and into a number. */
function countFitting(entries: readonly string[], space: number, most: number): number {
  let length = 0;
  const tooLong = entries.findIndex((entry) => {
    length += entry.length;
    return length > space;
  });
  return Math.min(tooLong < 0 ? entries.length : tooLong, most);
}

function writeEntry({ name, description, version }: Skill, location: string): string {
  return [
    "<skill>",
    `<name>${escapeXml(name)}</name>`,
    `<description>${escapeXml(description)}</description>`,
    `<location>${escapeXml(location)}</location>`,
    `<version>${version}</version>`,
    "</skill>",
  ].join("\n");
}

function leftOut(ids: readonly string[]): string {
  if (ids.length === 0) return "";
  const start = `\n${ids.length} more ${ids.length === 1 ? "skill is" : "skills are"} not listed for lack of space: `;
  const named: string[] = [];
  let length = start.length;
  for (const id of ids) {
    const shown = escapeXml(id);
    if (length + shown.length + 20 > NOTE_CHARS) break;
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

/** Quotes stay: they mean nothing between tags, and would cost tokens. */
function escapeXml(text: string): string {
  return (
    text
      .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write them
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
  );
}

/** A path that all tools of the agent can open: `./…` in its workspace, else absolute: a sandbox has its own home. */
export function agentPath(path: string, workspaceDir: string | undefined): string {
  return workspaceDir !== undefined && isInside(path, workspaceDir)
    ? `./${portable(relative(workspaceDir, path))}`
    : portable(path);
}

function portable(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
