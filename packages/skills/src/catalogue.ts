import { isAbsolute, relative, sep } from "node:path";
import { isInside } from "./fs.ts";
import { sha256 } from "./names.ts";
import type { CatalogueOptions, Skill, SkillCatalogue } from "./types.ts";

/** Length kept free for the sentence about what was left out. */
const NOTE_CHARS = 300;

/** Writes the list of skills for the system prompt; skills come in the order of their importance. */
export function writeCatalogue(
  skills: readonly Skill[],
  locate: (skill: Skill) => string,
  note: string | undefined,
  { maxSkills = 150, maxChars = 30_000 }: CatalogueOptions,
): SkillCatalogue {
  if (skills.length === 0) return { text: "", included: [], omitted: [], version: "" };
  const entries = skills.map((skill) => writeEntry(skill, locate(skill)));
  const ends = [0];
  for (const entry of entries) ends.push((ends.at(-1) ?? 0) + entry.length + 1);
  const last = note === undefined ? "" : `\n${escapeXml(note)}`;
  const around = "<available_skills>\n</available_skills>".length + last.length;
  const fits = (count: number) =>
    count <= maxSkills && around + (ends[count] ?? 0) + (count < skills.length ? NOTE_CHARS : 0) <= maxChars;

  let count = skills.length;
  if (!fits(count)) {
    let low = 0;
    let high = skills.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (fits(middle)) low = middle;
      else high = middle - 1;
    }
    count = low;
  }
  const included = skills.slice(0, count).map(({ id }) => id);
  const omitted = skills.slice(count).map(({ id }) => id);
  const body = entries.slice(0, count).map((entry) => `${entry}\n`);
  const text = `<available_skills>\n${body.join("")}</available_skills>${leftOut(omitted)}${last}`;
  return { text, included, omitted, version: sha256(text).slice(0, 12) };
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

/** A path as the agent may use it, as short as can be: `./…` in its workspace, `~/…` in the user's home. */
export function shortPath(path: string, workspaceDir: string | undefined, home: string): string {
  if (workspaceDir !== undefined && isInside(path, workspaceDir))
    return `./${portable(relative(workspaceDir, path))}`;
  if (isAbsolute(home) && home !== sep && isInside(path, home)) return `~/${portable(relative(home, path))}`;
  return portable(path);
}

function portable(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
