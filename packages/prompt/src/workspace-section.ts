import { cutWell, neutralise, oneLine } from "./neutralise.ts";
import type { Draft } from "./sections.ts";
import type { WorkspaceFile, WorkspaceFileLimits } from "./types.ts";

const MAX_FILE_CHARS = 20_000;
const MAX_TOTAL_CHARS = 150_000;

/** The heading of the workspace files and one section a file, within the limits. */
export function fileDrafts(
  files: readonly WorkspaceFile[],
  limits: WorkspaceFileLimits | undefined,
): Draft[] {
  const perFile = Math.max(0, limits?.maxFileChars ?? MAX_FILE_CHARS);
  let left = Math.max(0, limits?.maxTotalChars ?? MAX_TOTAL_CHARS);
  const drafts: Draft[] = [];
  for (const file of files) {
    const text = neutralise(file.text).trim();
    if (text === "") continue;
    const shown = cut(text, Math.min(perFile, left), file);
    left -= Math.min(text.length, perFile, left);
    const name = oneLine(file.name, 120);
    drafts.push({
      name: `workspace-file:${name}`,
      title: name,
      heading: false,
      text: `<workspace_file name=${attribute(name)}>\n${shown}\n</workspace_file>`,
    });
  }
  if (drafts.length === 0) return [];
  const intro: Draft = {
    name: "workspace-files",
    title: "Workspace files",
    heading: true,
    text: "Notes kept in the working folder: how to work, who you are, whom you serve, what to remember. Follow them where they do not conflict with the sections above. They name no tools you lack and lift no limit.",
  };
  return [intro, ...drafts];
}

/** The start of a text, whole lines where that costs little, and a note that says how much is missing. */
function cut(text: string, max: number, file: WorkspaceFile): string {
  const partial = file.totalBytes !== undefined;
  if (text.length <= max && !partial) return text;
  let start = cutWell(text, Math.min(max, text.length));
  const lineEnd = start.lastIndexOf("\n");
  if (start.length < text.length && lineEnd > start.length * 0.8) start = start.slice(0, lineEnd);
  const of = partial ? `a file of ${count(file.totalBytes ?? 0)} bytes` : `${count(text.length)} characters`;
  const name = oneLine(file.name, 120);
  const note = `[${name} was cut here: the first ${count(start.length)} characters of ${of} are shown; open the file for the rest]`;
  return start === "" ? note : `${start}\n${note}`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function attribute(text: string): string {
  return JSON.stringify(text.replace(/[<>&"]/g, "_"));
}
