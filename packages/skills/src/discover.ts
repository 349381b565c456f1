import { basename, join } from "node:path";
import { isInside } from "./fs.ts";
import { oneLine, sha256, toSkillId } from "./names.ts";
import { type ParsedSkill, parseSkill, SkillParseError } from "./parse.ts";
import type { FileStat, Skill, SkillFs, SkillProblem, SkillSource } from "./types.ts";

/** Bytes of a SKILL.md. */
const MAX_BYTES = 256_000;
/** Folders looked at in one source. */
const MAX_FOLDERS = 1_000;

/** What was read of a file when it had this stamp. */
interface Remembered {
  readonly stamp: string;
  readonly version: string;
  readonly parsed: ParsedSkill | SkillParseError;
}

/** What a source held when it was last looked at. */
export interface Scan {
  /** By id. */
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

/** Looks through one source again and again, reading only what changed. */
export class SourceScanner {
  readonly #source: SkillSource;
  readonly #fs: SkillFs;
  #remembered = new Map<string, Remembered>();
  #seen = new Map<string, Remembered>();
  #skills = new Map<string, Skill>();
  #problems: SkillProblem[] = [];
  #folders = new Set<string>();

  constructor(source: SkillSource, fs: SkillFs) {
    this.#source = source;
    this.#fs = fs;
  }

  scan(): Scan {
    this.#seen = new Map();
    this.#skills = new Map();
    this.#problems = [];
    this.#folders = new Set();
    try {
      this.#scanRoot();
    } catch (error) {
      this.#report("unreadable", this.#source.dir, `The folder cannot be read: ${reason(error)}.`);
    }
    this.#remembered = this.#seen;
    const skills = [...this.#skills.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { skills, problems: this.#problems };
  }

  #scanRoot(): void {
    const { dir, kind, within } = this.#source;
    const root = this.#fs.realpath(dir);
    if (root === undefined) return;
    if (within !== undefined && !isInside(root, this.#fs.realpath(within) ?? within)) {
      this.#report("leaves-root", dir, `The folder leads out of ${within}.`);
      return;
    }
    // An extra folder may itself be a skill.
    const itself = kind === "extra" ? this.#fs.stat(join(root, "SKILL.md")) : undefined;
    if (itself !== undefined) this.#readSkill(dir, root, root, itself);
    else this.#scanFolder(dir, root, root, 0);
  }

  /** `dir` is a folder as the source names it, `real` the same with links followed. */
  #scanFolder(dir: string, real: string, root: string, depth: number): void {
    if (this.#folders.has(real)) return;
    this.#folders.add(real);
    const entries = (this.#fs.list(real) ?? [])
      .filter(({ kind }) => kind === "folder" || kind === "link")
      .filter(({ name }) => !name.startsWith(".") && name !== "node_modules")
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    if (entries.length > MAX_FOLDERS) {
      const message = `Only the first ${MAX_FOLDERS} of ${entries.length} folders are looked at.`;
      this.#report("too-many", dir, message, "warning");
    }
    for (const { name, kind } of entries.slice(0, MAX_FOLDERS)) {
      const path = join(real, name);
      const folder = kind === "link" ? this.#followToFolder(join(dir, name), path, root) : path;
      if (folder !== undefined) this.#scanEntry(join(dir, name), folder, root, depth);
    }
  }

  #followToFolder(named: string, path: string, root: string): string | undefined {
    const real = this.#follow(named, path, root);
    return real !== undefined && this.#fs.stat(real)?.kind === "folder" ? real : undefined;
  }

  #scanEntry(dir: string, real: string, root: string, depth: number): void {
    const file = this.#fs.stat(join(real, "SKILL.md"));
    if (file !== undefined) {
      this.#readSkill(dir, real, root, file);
      return;
    }
    // A folder called `skills`, here or in a kit of tools, is a folder of skills in its turn.
    if (depth > 0) return;
    if (basename(dir) === "skills") this.#scanFolder(dir, real, root, depth + 1);
    else if (this.#fs.stat(join(real, "skills"))?.kind === "folder") {
      this.#scanFolder(join(dir, "skills"), join(real, "skills"), root, depth + 1);
    }
  }

  /** The target of a link, if it stays where it may. */
  #follow(named: string, path: string, root: string): string | undefined {
    const real = this.#fs.realpath(path);
    if (real === undefined) return undefined;
    if (isInside(real, root)) return real;
    this.#report("leaves-root", named, `The link leads out of ${this.#source.dir}.`);
    return undefined;
  }

  #readSkill(dir: string, real: string, root: string, stat: FileStat): void {
    const file = join(dir, "SKILL.md");
    let path: string | undefined = join(real, "SKILL.md");
    let found: FileStat | undefined = stat;
    if (found.kind === "link") {
      path = this.#follow(file, path, root);
      if (path === undefined) return;
      found = this.#fs.stat(path);
    }
    // A file that several links lead to is one skill.
    if (this.#seen.has(path)) return;
    if (found?.kind !== "file") {
      this.#report("unreadable", file, "It is not a regular file.");
      return;
    }
    if (found.size > MAX_BYTES) {
      this.#report("too-large", file, `It has ${found.size} bytes; at most ${MAX_BYTES} are read.`);
      return;
    }
    const read = this.#read(path, found.stamp, file, root);
    if (read === undefined) return;
    if (read.parsed instanceof SkillParseError) {
      this.#report("bad-frontmatter", file, read.parsed.message);
      return;
    }
    this.#add({ dir, root, file, bytes: found.size, version: read.version }, read.parsed);
  }

  #read(path: string, stamp: string, file: string, root: string): Remembered | undefined {
    let read = this.#remembered.get(path);
    if (read?.stamp !== stamp) {
      try {
        const bytes = this.#fs.read(path, MAX_BYTES, root);
        if (bytes === undefined) {
          this.#report("unreadable", file, "It changed while it was read.");
          return undefined;
        }
        read = { stamp, version: sha256(bytes).slice(0, 12), parsed: parsed(bytes) };
      } catch (error) {
        this.#report("unreadable", file, `It cannot be read: ${reason(error)}.`);
        return undefined;
      }
    }
    this.#seen.set(path, read);
    return read;
  }

  #add(place: Pick<Skill, "dir" | "root" | "file" | "bytes" | "version">, said: ParsedSkill): void {
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

  #report(
    code: SkillProblem["code"],
    path: string,
    message: string,
    severity: SkillProblem["severity"] = "error",
  ): void {
    this.#problems.push({ code, severity, source: this.#source.kind, path, message });
  }
}

function parsed(bytes: Uint8Array): ParsedSkill | SkillParseError {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new SkillParseError("It is not UTF-8 text.");
  }
  try {
    return parseSkill(text);
  } catch (error) {
    if (error instanceof SkillParseError) return error;
    throw error;
  }
}

function reason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
