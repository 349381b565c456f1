import { basename, join } from "node:path";
import { decodeText } from "./encoding.ts";
import { SkillParseError } from "./frontmatter.ts";
import type { FileStat, SkillFs } from "./fs.ts";
import { isInside, reason } from "./fs.ts";
import { toSkillId } from "./ids.ts";
import type { Pacer } from "./pacer.ts";
import type { Skill, SkillDeclaration, SkillProblem } from "./skill.ts";
import { parseSkill } from "./skill-file.ts";
import type { SkillSource } from "./sources.ts";
import { oneLine, sha256 } from "./text.ts";

/** Bytes of a SKILL.md. */
const MAX_FILE_BYTES = 256_000;
/** What one scan of a source may look at, whatever is in it: folders, and bytes of all SKILL.md. */
const MAX_FOLDERS = 5_000;
/** Entries read of one folder, files included. */
const MAX_ENTRIES = 10_000;
const MAX_TOTAL_BYTES = 50_000_000;
/** Folders between a source and a folder of skills. */
const MAX_DEPTH = 3;
/** How the file may be called; the first is the right way. */
const FILE_NAMES = ["SKILL.md", "Skill.md", "skill.md"];

/** What was read of each file, by its path: a later scan reads only what has another stamp. */
export type ScanMemory = ReadonlyMap<string, ReadFile>;

interface ReadFile {
  readonly stamp: string;
  readonly version: string;
  readonly said: SkillDeclaration | SkillParseError;
  readonly warning?: string;
}

/** What a source held when it was looked at. */
export interface Scan {
  /** By id. */
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
  readonly memory: ScanMemory;
}

/** A folder as the source names it, and the same with links followed. */
interface Folder {
  readonly dir: string;
  readonly real: string;
}

/**
 * Looks through one source. The same files give the same scan, whatever is remembered; how much is looked at has a
 * limit, and the work is done in slices.
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

/** One scan under way. */
class Scanner {
  readonly #source: SkillSource;
  readonly #fs: SkillFs;
  readonly #before: ScanMemory;
  readonly #pacer: Pacer;
  readonly #memory = new Map<string, ReadFile>();
  readonly #skills = new Map<string, Skill>();
  readonly #problems: SkillProblem[] = [];
  /** Folders that were listed, with links followed, so that links cannot make a scan endless. */
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
    return this.#lookInto(this.#source.dir, () => this.#scanSource());
  }

  /** What cannot be read is told of, and hides nothing else. */
  async #lookInto(dir: string, look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.#report("unreadable", dir, `The folder cannot be read: ${reason(error)}.`);
    }
  }

  async #scanSource(): Promise<void> {
    const { dir, kind, within } = this.#source;
    const real = this.#fs.realpath(dir);
    if (real === undefined) return;
    if (within !== undefined && !isInside(real, this.#fs.realpath(within) ?? within)) {
      this.#report("leaves-root", dir, `The folder leads out of ${within}.`);
      return;
    }
    this.#root = real;
    const folder = { dir, real };
    // An extra folder may itself be a skill.
    if (kind === "extra" && this.#readSkillOf(folder)) return;
    await this.#scanFolders(folder, MAX_DEPTH);
  }

  /**
   * Looks at every folder in one. Each is a skill or holds some, as a kit with a folder of skills, a repository or a
   * group of skills of one kind does.
   */
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
      await this.#lookInto(named.dir, async () => {
        const folder = this.#enter(named, kind === "link");
        if (folder === undefined || this.#readSkillOf(folder) || depth === 0) return;
        // Beside its skills a kit has folders of other things.
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

  /** The target of a link, if it stays where it may. */
  #follow(named: string, path: string): string | undefined {
    const real = this.#fs.realpath(path);
    if (real === undefined) return undefined;
    if (isInside(real, this.#root)) return real;
    this.#report("leaves-root", named, `The link leads out of ${this.#source.dir}.`);
    return undefined;
  }

  /** Reads the skill that a folder is; false where it has no SKILL.md. */
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
    // A file that several links lead to is one skill.
    if (this.#memory.has(path)) return;
    const stat = entry.kind === "link" ? this.#fs.stat(path) : entry;
    if (stat?.kind !== "file") {
      this.#report("unreadable", file, "It is not a regular file.");
      return;
    }
    if (stat.size > MAX_FILE_BYTES) {
      this.#report("too-large", file, `It has ${stat.size} bytes; at most ${MAX_FILE_BYTES} are read.`);
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
    if (read.warning !== undefined) this.#report("bad-encoding", file, read.warning, { severity: "warning" });
    if (read.said instanceof SkillParseError)
      this.#report("bad-frontmatter", file, read.said.message, read.said);
    else this.#add({ dir, root: this.#root, file, bytes: stat.size, version: read.version }, read.said);
  }

  #readFile(path: string, stamp: string, file: string): ReadFile | undefined {
    const before = this.#before.get(path);
    if (before?.stamp === stamp) return before;
    try {
      const bytes = this.#fs.read(path, MAX_FILE_BYTES, this.#root);
      if (bytes !== undefined) {
        const { text, warning } = decodeText(bytes);
        const version = sha256(bytes).slice(0, 12);
        return { stamp, version, said: parsed(text), ...(warning === undefined ? {} : { warning }) };
      }
      this.#report("unreadable", file, "It changed while it was read.");
    } catch (error) {
      this.#report("unreadable", file, `It cannot be read: ${reason(error)}.`);
    }
    return undefined;
  }

  #add(place: Pick<Skill, "dir" | "root" | "file" | "bytes" | "version">, said: SkillDeclaration): void {
    const { dir, file } = place;
    const folder = basename(dir);
    const id = toSkillId(said.name ?? folder) ?? toSkillId(folder);
    if (id === undefined) {
      const message = `Neither its name nor its folder ${JSON.stringify(folder)} has a letter or digit.`;
      this.#report("bad-name", file, message);
      return;
    }
    const other = this.#skills.get(id);
    if (other !== undefined) {
      this.#report("duplicate", file, `${other.file} already has the name ${id}.`);
      return;
    }
    const name = said.name ?? oneLine(folder, 64);
    const description = said.description ?? name;
    this.#skills.set(id, { ...said, ...place, id, name, description, source: this.#source.kind });
  }

  /** Once a scan: where the limit is reached, everything behind it is left out. */
  #reportTooMany(path: string, limit: string): void {
    if (this.#problems.some(({ code }) => code === "too-many")) return;
    const message = `Only the first ${limit} of ${this.#source.dir} are looked at; the rest, from here on, is left out.`;
    this.#report("too-many", path, message, { severity: "warning" });
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

function parsed(text: string): SkillDeclaration | SkillParseError {
  try {
    return parseSkill(text);
  } catch (error) {
    if (error instanceof SkillParseError) return error;
    throw error;
  }
}

const REMEDIES: Readonly<Record<SkillProblem["code"], string>> = {
  "bad-encoding": "Save the file as UTF-8.",
  "bad-frontmatter": "Correct that line; a value with a colon, a quote or a bracket needs quotes around it.",
  "bad-name": "Give it a name with a letter or digit, by `name:` or by its folder.",
  duplicate: "Rename one of the two, or remove it.",
  "leaves-root": "Copy the folder instead of linking to it.",
  "too-large": "Move what is rarely needed into files beside SKILL.md, which are read when they are needed.",
  "too-many": "Remove what is not needed, or spread it over several folders (`skills.load.extraDirs`).",
  unreadable: "Make it a file or a folder that the gateway's user may read.",
};
