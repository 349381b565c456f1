import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hashFile } from "./home-files.ts";
import type { Item } from "./item.ts";
import type { FileImport, SkillImport } from "./source.ts";
import { getFolderFault, listTree } from "./tree.ts";

/** A workspace of another system. */
export interface SourceWorkspace {
  readonly agentId: string;
  readonly dir: string;
  /** Folders inside that belong to something else, by path. */
  readonly without?: readonly string[];
  /** SHA-256 of the files that the system generated, by name, to detect files that are unchanged. */
  readonly generated?: ReadonlyMap<string, string>;
  /** True if the first conversation with the agent has not taken place. */
  readonly isNew?: boolean;
}

/** Rules for the notes of a workspace. */
export interface NoteRules {
  /** True if others than owners may have influenced the notes. */
  readonly isUntrusted: boolean;
}

const IDENTITY_FILES = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md"];
const IGNORED_FOLDERS = new Set([".git", ".openclaw", "node_modules", ".dreams", "imports"]);
/** Notes of one conversation, which belong to the day of its name. */
const SESSION_NOTE = /^memory\/(\d{4}-\d\d-\d\d)-([^/]+)\.md$/;
/** Comment that marks an entry of untrusted origin. See `encodeProvenance` in packages/memory. */
const UNTRUSTED = '<!-- memory {"untrusted":"other"} -->';
/** A part of an instruction that only makes sense in the other system. */
const FOREIGN = /openclaw|clawdbot|moltbot|\bnanobot\b|\bhermes\b|\bcanvas\b|\btts\b|session_status/i;

/** The files and skills of a workspace. */
export interface ConvertedWorkspace {
  readonly imports: readonly (FileImport | SkillImport)[];
  readonly items: readonly Item[];
  /** Lines that name the other system, as `file:line`. Their text is left out, because it can contain a secret. */
  readonly foreignLines: readonly string[];
}

/** Converts a workspace, its notes and its skills. */
export function convertWorkspace(workspace: SourceWorkspace, rules: NoteRules): ConvertedWorkspace {
  const { agentId, dir, without = [], generated = new Map<string, string>() } = workspace;
  const imports: (FileImport | SkillImport)[] = [];
  const items: Item[] = [];
  const foreignLines: string[] = [];
  const home = `workspaces/${agentId}`;
  const notesByDay = new Map<string, { path: string; file: string; name: string }[]>();
  const memoryFiles: string[] = [];
  if (!existsSync(dir)) return { imports, items, foreignLines };
  const tree = listTree(dir, (path, isFolder) => {
    if (without.includes(path)) return "It is read as a workspace of its own.";
    const name = path.split("/").at(-1) ?? "";
    return isFolder && IGNORED_FOLDERS.has(name) ? "Not a part of the agent's own files." : undefined;
  });
  for (const { path, file, leftOut } of tree) {
    const id = `${agentId}/${path}`;
    const part =
      path === "MEMORY.md" || path === "memory.md" || path.startsWith("memory/") ? "memory" : "workspaces";
    if (leftOut !== undefined) {
      items.push({ part, id, state: "skipped", why: leftOut });
      continue;
    }
    if (path.startsWith("skills/")) continue;
    if (path === "BOOTSTRAP.md") {
      items.push({ part, id, state: "skipped", why: "The first conversation with the agent is over." });
      continue;
    }
    if (IDENTITY_FILES.includes(path)) {
      const hash = hashFile(file);
      if (generated.get(path) === hash) {
        items.push({
          part,
          id,
          state: "skipped",
          why: "The unchanged template of the other system. Ours is used.",
        });
        continue;
      }
      foreignLines.push(...findForeignLines(id, file));
    }
    if (path === "MEMORY.md" || path === "memory.md" || path === "memory/MEMORY.md") {
      memoryFiles.push(path);
      continue;
    }
    const [, day, name] = SESSION_NOTE.exec(path) ?? [];
    if (day !== undefined && name !== undefined) {
      notesByDay.set(day, [...(notesByDay.get(day) ?? []), { path, file, name }]);
      continue;
    }
    if (part === "memory" && path.endsWith(".md")) {
      const day = /^memory\/(\d{4}-\d\d-\d\d)\.md$/.exec(path)?.[1];
      if (day !== undefined) {
        notesByDay.set(day, [{ path, file, name: "" }, ...(notesByDay.get(day) ?? [])]);
        continue;
      }
      const text = readFileSync(file, "utf8");
      imports.push({
        kind: "file",
        part,
        id,
        content: { text: convertNotes(text, rules) },
        to: `${home}/${path}`,
        loss: rules.isUntrusted ? UNTRUSTED_LOSS : undefined,
      });
      continue;
    }
    imports.push({ kind: "file", part: "workspaces", id, content: { path: file }, to: `${home}/${path}` });
  }
  imports.push(...joinMemory(workspace, memoryFiles, rules));
  for (const [day, files] of notesByDay) imports.push(...joinNotes(agentId, home, day, files, rules));
  const skills = convertSkills(join(dir, "skills"), `${home}/skills`, `${agentId}/skills`);
  return { imports: [...imports, ...skills.imports], items: [...items, ...skills.items], foreignLines };
}

const UNTRUSTED_LOSS = "Others could talk to the agent, so its notes count as untrusted (--trust-memory).";

/**
 * Prepares notes of another system. Comments that imitate an origin are escaped. Every line of untrusted notes is
 * marked; their headings become lines, because headings carry no mark.
 */
function convertNotes(text: string, { isUntrusted }: NoteRules): string {
  const escaped = text.replaceAll("<!-- memory", "&lt;!-- memory");
  if (!isUntrusted) return escaped;
  return escaped
    .split(/\r?\n/)
    .map((line) => {
      if (line.trim() === "") return line;
      const heading = /^#{1,6}\s+(\S.*)$/.exec(line)?.[1];
      return `${heading === undefined ? line.trimEnd() : `**${heading.trim()}**`} ${UNTRUSTED}`;
    })
    .join("\n");
}

/** Joins the long-term memory of the root and of the folder. Lines of the second that the first has are left out. */
function joinMemory(
  { agentId, dir }: SourceWorkspace,
  files: readonly string[],
  rules: NoteRules,
): readonly FileImport[] {
  const texts = files
    .toSorted((a, b) => a.split("/").length - b.split("/").length)
    .map((path) => readFileSync(join(dir, path), "utf8"));
  const [first, ...others] = texts;
  if (first === undefined) return [];
  const lines = new Set(first.split("\n"));
  const added = others.flatMap((text) =>
    text.split("\n").filter((line) => line.trim() !== "" && !lines.has(line)),
  );
  const joined = added.length === 0 ? first : `${first.trimEnd()}\n\n${added.join("\n")}\n`;
  const text = convertNotes(joined, rules);
  const losses = [
    ...(rules.isUntrusted ? [UNTRUSTED_LOSS] : []),
    ...(text.length > 40_000 ? ["It is long, and a part of each prompt. Shorten it."] : []),
  ];
  return files.map((path, index) => ({
    kind: "file",
    part: "memory",
    id: `${agentId}/${path}`,
    content: { text },
    to: `workspaces/${agentId}/memory/MEMORY.md`,
    loss: index > 0 ? "Joined with the other MEMORY.md." : losses.length === 0 ? undefined : losses.join(" "),
  }));
}

/** Joins the notes of a day: its own file first, then those of single conversations under headings. */
function joinNotes(
  agentId: string,
  home: string,
  day: string,
  files: readonly { readonly path: string; readonly file: string; readonly name: string }[],
  rules: NoteRules,
): readonly FileImport[] {
  const joined = files
    .map(({ file, name }) => {
      const text = readFileSync(file, "utf8").trim();
      return name === "" ? text : `## ${name}\n\n${text.replace(/^(#+ )/gm, "#$1")}`;
    })
    .join("\n\n");
  const text = convertNotes(joined, rules).trimEnd();
  return files.map(({ path, name }) => ({
    kind: "file",
    part: "memory",
    id: `${agentId}/${path}`,
    content: { text: `${text}\n` },
    to: `${home}/memory/${day}.md`,
    loss: rules.isUntrusted ? UNTRUSTED_LOSS : name === "" ? undefined : `Added to the notes of ${day}.`,
  }));
}

/** Converts the folders of `dir` that contain a SKILL.md. A link is left out. */
export function convertSkills(
  dir: string,
  to: string,
  prefix: string,
): { readonly imports: readonly SkillImport[]; readonly items: readonly Item[] } {
  if (!existsSync(dir)) return { imports: [], items: [] };
  const fault = getFolderFault(dir, dirname(dir));
  if (fault !== undefined)
    return { imports: [], items: [{ part: "skills", id: prefix, state: "skipped", why: fault }] };
  const folders = new Map<string, Map<string, string>>();
  const items: Item[] = [];
  for (const { path, file, leftOut } of listTree(dir)) {
    const [name = "", ...rest] = path.split("/");
    if (leftOut !== undefined || rest.length === 0) {
      items.push({
        part: "skills",
        id: `${prefix}/${path}`,
        state: "skipped",
        why: leftOut ?? "Not a part of a skill.",
      });
      continue;
    }
    const files = folders.get(name) ?? new Map<string, string>();
    files.set(rest.join("/"), file);
    folders.set(name, files);
  }
  const imports: SkillImport[] = [];
  for (const [name, files] of folders) {
    const id = `${prefix}/${name}`;
    if (!files.has("SKILL.md"))
      items.push({ part: "skills", id, state: "skipped", why: "It contains no SKILL.md." });
    else imports.push({ kind: "skill", id, files, to: `${to}/${name}` });
  }
  return { imports, items };
}

function findForeignLines(id: string, file: string): readonly string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => (FOREIGN.test(line) ? [`${id}:${index + 1}`] : []))
    .slice(0, 20);
}
