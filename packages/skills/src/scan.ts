import { basename, join } from "node:path";
import { decodeText } from "./encoding.ts";
import { SkillParseError } from "./frontmatter.ts";
import type { FileStat, SkillFs } from "./fs.ts";
import { getReason, isInside } from "./fs.ts";
import { toSkillId } from "./ids.ts";
import type { Pacer } from "./pacer.ts";
import type { Skill, SkillDeclaration, SkillProblem } from "./skill.ts";
import { parseSkill } from "./skill-file.ts";
import type { SkillSource } from "./sources.ts";
import { oneLine, sha256 } from "./text.ts";

const MAX_FILE_BYTES = 256_000;
/** Maximum number of folders of a source that a scan visits. */
const MAX_FOLDERS = 5_000;
/** Maximum number of entries of a folder that are read, including files. */
const MAX_ENTRIES = 10_000;
/** Total size of all SKILL.md files of a source. */
const MAX_TOTAL_BYTES = 50_000_000;
/** Maximum number of folder levels between a source and a folder of skills. */
const MAX_DEPTH = 3;
/** Accepted file names. The first one is the standard. */
const FILE_NAMES = ["SKILL.md", "Skill.md", "skill.md"];

/** Parsed files by path. A later scan parses only files whose stamp has changed. */
export type ScanMemory = ReadonlyMap<string, ReadFile>;

interface ReadFile {
  readonly stamp: string;
  readonly sha256: string;
  readonly declaration: SkillDeclaration | SkillParseError;
  /** Problem with the encoding of the file. */
  readonly encodingWarning?: string;
}

/** The result of scanning a source. */
export interface Scan {
  /** By id. */
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
  readonly memory: ScanMemory;
}

/** A folder by its path in the source, and by its path without links. */
interface Folder {
  readonly dir: string;
  readonly real: string;
}

/**
 * Scans one source, in slices and with limits. The result depends only on the files; `memory` only saves parsing.
 */
export async function scanSource(
  source: SkillSource,
  fs: SkillFs,
  memory: ScanMemory,
  pacer: Pacer,
): Promise<Scan> {
  const scanner = new Scanner(source, fs, memory, pacer);
  await scanner.scan();
  await pacer.pause();
  return scanner.result();
}

class Scanner {
  readonly #source: SkillSource;
  readonly #fs: SkillFs;
  readonly #before: ScanMemory;
  readonly #pacer: Pacer;
  readonly #memory = new Map<string, ReadFile>();
  readonly #skills = new Map<string, Skill>();
  readonly #problems: SkillProblem[] = [];
  /** Folders that were listed, without links, so that cyclic links cannot make a scan endless. */
  readonly #listed = new Set<string>();
  #root = "";
  #foldersLeft = MAX_FOLDERS;
  #bytesLeft = MAX_TOTAL_BYTES;

  constructor(source: SkillSource, fs: SkillFs, before: ScanMemory, pacer: Pacer) {
    this.#source = source;
    this.#fs = fs;
    this.#before = before;
    this.#pacer = pacer;
  }

  result(): Scan {
    const skills = [...this.#skills.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { skills, problems: this.#problems, memory: this.#memory };
  }

  scan(): Promise<void> {
    return this.#attempt(this.#source.dir, () => this.#scanSource());
  }

  /** Reports a folder that cannot be read, and continues. */
  async #attempt(dir: string, scan: () => Promise<void>): Promise<void> {
    try {
      await scan();
    } catch (error) {
      this.#report("unreadable", dir, `The folder cannot be read: ${getReason(error)}.`);
    }
  }

  async #scanSource(): Promise<void> {
    const { dir, kind, within } = this.#source;
    const real = this.#fs.realpath(dir);
    if (real === undefined) return;
    if (within !== undefined && !isInside(real, this.#fs.realpath(within) ?? within)) {
      this.#report("leaves_root", dir, `The folder leads out of ${within}.`);
      return;
    }
    this.#root = real;
    const folder = { dir, real };
    // An extra folder may itself be a skill.
    if (kind === "extra" && this.#readSkillOf(folder)) return;
    await this.#scanFolders(folder, MAX_DEPTH);
  }

  /** Scans the folders in a folder. Each is a skill or contains skills, like a kit, a repository or a group. */
  async #scanFolders(parent: Folder, depth: number): Promise<void> {
    if (this.#listed.has(parent.real)) return;
    this.#listed.add(parent.real);
    const entries = this.#fs.list(parent.real, MAX_ENTRIES + 1) ?? [];
    await this.#pacer.pause();
    if (entries.length > MAX_ENTRIES) this.#reportTooMany(parent.dir, `${MAX_ENTRIES} entries of a folder`);
    const folders = entries
      .filter(({ kind }) => kind === "folder" || kind === "link")
      .filter(({ name }) => !name.startsWith(".") && name !== "node_modules")
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name, kind } of folders) {
      await this.#pacer.pause();
      if (this.#foldersLeft === 0) {
        this.#reportTooMany(parent.dir, `${MAX_FOLDERS} folders`);
        return;
      }
      this.#foldersLeft--;
      const named = { dir: join(parent.dir, name), real: join(parent.real, name) };
      await this.#attempt(named.dir, async () => {
        const folder = this.#enter(named, kind === "link");
        if (folder === undefined || this.#readSkillOf(folder) || depth === 0) return;
        // A kit has other folders besides its `skills`.
        await this.#scanFolders(this.#skillsFolderOf(folder) ?? folder, depth - 1);
      });
    }
  }

  #enter(folder: Folder, isLink: boolean): Folder | undefined {
    if (!isLink) return folder;
    const real = this.#follow(folder.dir, folder.real);
    return real !== undefined && this.#fs.stat(real)?.kind === "folder"
      ? { dir: folder.dir, real }
      : undefined;
  }

  #skillsFolderOf(kit: Folder): Folder | undefined {
    const real = join(kit.real, "skills");
    return this.#fs.stat(real)?.kind === "folder" ? { dir: join(kit.dir, "skills"), real } : undefined;
  }

  /** Resolves a link. Returns undefined if it leads out of the source. */
  #follow(named: string, path: string): string | undefined {
    const real = this.#fs.realpath(path);
    if (real === undefined) return undefined;
    if (isInside(real, this.#root)) return real;
    this.#report("leaves_root", named, `The link leads out of ${this.#source.dir}.`);
    return undefined;
  }

  /** Reads the skill of a folder. Returns whether the folder has a SKILL.md. */
  #readSkillOf(folder: Folder): boolean {
    for (const name of FILE_NAMES) {
      const path = join(folder.real, name);
      const stat = this.#fs.stat(path);
      if (stat === undefined) continue;
      this.#readSkill(folder.dir, join(folder.dir, name), path, stat);
      return true;
    }
    return false;
  }

  #readSkill(dir: string, file: string, place: string, entry: FileStat): void {
    const path = entry.kind === "link" ? this.#follow(file, place) : place;
    if (path === undefined) return;
    // Several links may lead to the same file.
    if (this.#memory.has(path)) return;
    const stat = entry.kind === "link" ? this.#fs.stat(path) : entry;
    if (stat?.kind !== "file") {
      this.#report("unreadable", file, "This is not a regular file.");
      return;
    }
    if (stat.size > MAX_FILE_BYTES) {
      this.#report("too_large", file, `The file has ${stat.size} bytes; the limit is ${MAX_FILE_BYTES}.`);
      return;
    }
    if (stat.size > this.#bytesLeft) {
      this.#reportTooMany(file, `${MAX_TOTAL_BYTES} bytes of SKILL.md`);
      return;
    }
    this.#bytesLeft -= stat.size;
    const read = this.#readFile(path, stat.stamp, file);
    if (read === undefined) return;
    this.#memory.set(path, read);
    const { declaration, encodingWarning } = read;
    const severity = "warning";
    if (encodingWarning !== undefined) this.#report("bad_encoding", file, encodingWarning, { severity });
    if (declaration instanceof SkillParseError) {
      this.#report("bad_frontmatter", file, declaration.message, declaration);
      return;
    }
    for (const warning of declaration.warnings) this.#report("bad_frontmatter", file, warning, { severity });
    const version = read.sha256.slice(0, 12);
    const { size: bytes } = stat;
    this.#add({ dir, root: this.#root, file, bytes, sha256: read.sha256, version }, declaration);
  }

  #readFile(path: string, stamp: string, file: string): ReadFile | undefined {
    const before = this.#before.get(path);
    if (before?.stamp === stamp) return before;
    try {
      const bytes = this.#fs.read(path, MAX_FILE_BYTES, this.#root);
      if (bytes !== undefined) {
        const { text, warning } = decodeText(bytes);
        return { stamp, sha256: sha256(bytes), declaration: tryParse(text), encodingWarning: warning };
      }
      this.#report("unreadable", file, "The file changed while it was read.");
    } catch (error) {
      this.#report("unreadable", file, `The file cannot be read: ${getReason(error)}.`);
    }
    return undefined;
  }

  #add(
    place: Pick<Skill, "dir" | "root" | "file" | "bytes" | "sha256" | "version">,
    declaration: SkillDeclaration,
  ): void {
    const { dir, file } = place;
    const folder = basename(dir);
    const id = toSkillId(declaration.name ?? folder) ?? toSkillId(folder);
    if (id === undefined) {
      const message = `Neither the name nor the folder ${JSON.stringify(folder)} contains a letter or digit.`;
      this.#report("bad_name", file, message);
      return;
    }
    const other = this.#skills.get(id);
    if (other !== undefined) {
      this.#report("duplicate", file, `${other.file} already has the name ${id}.`);
      return;
    }
    const name = declaration.name ?? oneLine(folder, 64);
    const description = declaration.description ?? name;
    this.#skills.set(id, { ...declaration, ...place, id, name, description, source: this.#source.kind });
  }

  /** Reports a limit once per scan. */
  #reportTooMany(path: string, limit: string): void {
    if (this.#problems.some(({ code }) => code === "too_many")) return;
    const message = `Only the first ${limit} of ${this.#source.dir} are read. The rest is left out, from here on.`;
    this.#report("too_many", path, message, { severity: "warning" });
  }

  #report(
    code: SkillProblem["code"],
    path: string,
    message: string,
    {
      severity = "error",
      line,
    }: { readonly severity?: SkillProblem["severity"]; readonly line?: number | undefined } = {},
  ): void {
    const problem = { code, severity, source: this.#source.kind, path, message, remedy: REMEDIES[code] };
    this.#problems.push(line === undefined ? problem : { ...problem, line });
  }
}

function tryParse(text: string): SkillDeclaration | SkillParseError {
  try {
    return parseSkill(text);
  } catch (error) {
    if (error instanceof SkillParseError) return error;
    throw error;
  }
}

const REMEDIES: Readonly<Record<SkillProblem["code"], string>> = {
  bad_encoding: "Save the file as UTF-8.",
  bad_frontmatter:
    "Correct the frontmatter. A value with a colon, a quote or a bracket needs quotes around it.",
  bad_name: "Give it a `name` or a folder with a letter or digit.",
  duplicate: "Rename one of the two, or remove it.",
  leaves_root: "Add the link's target folder to `skills.load.extraDirs`, or copy it.",
  too_large: "Move what is rarely needed into other files of the folder, and refer to them in SKILL.md.",
  too_many: "Remove what is not needed, or split it into several folders (`skills.load.extraDirs`).",
  unreadable: "Make it a file or folder that the gateway's user may read.",
};
