import { relative, sep } from "node:path";
import { isInside } from "./fs.ts";
import type { Pacer } from "./pacer.ts";
import { byRelevance, isRankable } from "./relevance.ts";
import type { Skill } from "./skill.ts";
import { oneLine, sha256 } from "./text.ts";

/** The list of skills in the system prompt. */
export interface SkillCatalogue {
  /** `<available_skills>…</available_skills>` and notes; empty if there is no skill. */
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
  /**
   * What the skills are wanted for, for instance the message that began a conversation: where some must be left out,
   * those stay that have most to do with it. Default: those that are nearest to the agent stay.
   */
  readonly relevantTo?: string;
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
  readonly entries: CatalogueEntries;
  /** Told after the list. */
  readonly note: string | undefined;
}

/** The lines of a skill in the list, with a line break behind them; in short where there is no space. */
interface CatalogueEntries {
  readonly entryOf: (skill: Skill) => string;
  readonly shortEntryOf: (skill: Skill) => string;
}

interface UnavailableSkill {
  readonly id: string;
  /** Why, in a sentence or more. */
  readonly reason: string;
}

/**
 * Writes the list of skills for the system prompt. Where there is no space for all of them, every description is cut
 * short before any skill is left out; which those are, depends on what they are wanted for.
 */
export async function writeCatalogue(
  { skills, unavailable, entries, note }: CatalogueContent,
  { maxSkills = 150, maxChars = 30_000, relevantTo = "" }: CatalogueOptions,
  pacer: Pacer,
): Promise<SkillCatalogue> {
  const last = `${writeUnavailable(unavailable, Math.min(UNAVAILABLE_CHARS, maxChars / 5))}${note === undefined ? "" : `\n${escapeXml(note)}`}`;
  if (skills.length === 0) {
    const text = unavailable.length === 0 ? "" : last.trim();
    return { text, included: [], omitted: [], version: text === "" ? "" : sha256(text).slice(0, 12) };
  }
  const space = maxChars - OPEN.length - CLOSE.length - last.length;
  const fitting = await entriesThatFit(skills, { maxSkills, space, relevantTo, entries }, pacer);
  const included = skills.filter((skill) => fitting.has(skill));
  const omitted = skills.filter((skill) => !fitting.has(skill)).map(({ id }) => id);
  const list = included.map((skill) => fitting.get(skill)).join("");
  const text = `${OPEN}${list}${CLOSE}${leftOut(omitted, isRankable(relevantTo))}${last}`;
  return { text, included: included.map(({ id }) => id), omitted, version: sha256(text).slice(0, 12) };
}

interface Room extends Required<Pick<CatalogueOptions, "maxSkills" | "relevantTo">> {
  readonly space: number;
  readonly entries: CatalogueEntries;
}

/** The entries that are listed: of all skills, in short where they are too long, else of the most relevant. */
async function entriesThatFit(
  skills: readonly Skill[],
  { maxSkills, space, relevantTo, entries: { entryOf, shortEntryOf } }: Room,
  pacer: Pacer,
): Promise<ReadonlyMap<Skill, string>> {
  const entriesOf = (some: readonly Skill[], write: (skill: Skill) => string) =>
    new Map(some.map((skill) => [skill, write(skill)]));
  if (skills.length <= maxSkills) {
    const whole = entriesOf(skills, entryOf);
    if (lengthOf(whole) <= space) return whole;
    const short = entriesOf(skills, shortEntryOf);
    if (lengthOf(short) <= space) return short;
  }
  const ranked = await byRelevance(skills, relevantTo, pacer);
  const chosen = ranked.slice(0, Math.min(maxSkills, skills.length - 1));
  const whole = entriesOf(chosen, entryOf);
  if (chosen.length === maxSkills && lengthOf(whole) <= space - NOTE_CHARS) return whole;
  return firstThatFit(entriesOf(chosen, shortEntryOf), space - NOTE_CHARS);
}

/** Writes the entries of skills, each once however many lists it stands in. */
export function createEntries(locate: (skill: Skill) => string): CatalogueEntries {
  const write = (form: (skill: Skill) => Skill) => {
    const written = new Map<Skill, string>();
    return (skill: Skill): string => {
      const entry = written.get(skill) ?? `${writeEntry(form(skill), locate(skill))}\n`;
      written.set(skill, entry);
      return entry;
    };
  };
  return { entryOf: write((skill) => skill), shortEntryOf: write(shortened) };
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

function lengthOf(entries: ReadonlyMap<Skill, string>): number {
  return [...entries.values()].reduce((sum, entry) => sum + entry.length, 0);
}

function firstThatFit(entries: ReadonlyMap<Skill, string>, space: number): ReadonlyMap<Skill, string> {
  let length = 0;
  const tooLong = [...entries.values()].findIndex((entry) => {
    length += entry.length;
    return length > space;
  });
  return tooLong < 0 ? entries : new Map([...entries].slice(0, tooLong));
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

function leftOut(ids: readonly string[], isRanked: boolean): string {
  if (ids.length === 0) return "";
  const ranked = isRanked ? ", having less to do with this conversation" : "";
  const start = `\n${ids.length} more ${ids.length === 1 ? "skill is" : "skills are"} not listed for lack of space${ranked}: `;
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
