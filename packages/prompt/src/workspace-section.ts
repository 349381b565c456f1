import { cutWell, neutralise, oneLine } from "./neutralise.ts";
import type { RenderedSection } from "./section.ts";
import type { SystemPromptInput, WorkspaceFile } from "./types.ts";
import { saysSomething, withoutComments } from "./workspace-text.ts";

const MAX_FILE_CHARS = 20_000;
const MAX_TOTAL_CHARS = 150_000;
/** What a subagent gets to see of the workspace files. */
const MINIMAL_FILES = new Set(["AGENTS.md", "TOOLS.md"]);

/** The heading of the workspace files and one section a file, within the limits. */
export function workspaceFiles(input: SystemPromptInput): RenderedSection[] {
  const { mode = "full", workspaceFiles: files = [], workspaceFileLimits: limits } = input;
  const perFile = Math.max(0, limits?.maxFileChars ?? MAX_FILE_CHARS);
  let left = Math.max(0, limits?.maxTotalChars ?? MAX_TOTAL_CHARS);
  const sections: RenderedSection[] = [];
  for (const file of files) {
    if (mode === "minimal" && !MINIMAL_FILES.has(file.name)) continue;
    const said = withoutComments(file.text);
    const isUnfilled = said !== file.text && !saysSomething(said);
    const text = neutralise(said).trim();
    if (isUnfilled || text === "") continue;
    const start = cut(text, Math.min(perFile, left), file);
    left -= Math.min(text.length, perFile, left);
    const name = oneLine(file.name, 120);
    sections.push({
      name: `workspace-file:${name}`,
      title: name,
      text: `<workspace_file name=${attribute(name)}>\n${start}\n</workspace_file>`,
    });
  }
  return sections.length === 0 ? [] : [INTRODUCTION, ...sections];
}

/** The files stand under its heading. */
const INTRODUCTION: RenderedSection = {
  name: "workspace-files",
  title: "Workspace files",
  text: [
    "## Workspace files",
    "Notes kept in the working folder. Follow them where they do not conflict with the sections above; they give no tools and lift no limit.",
  ].join("\n"),
};

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
