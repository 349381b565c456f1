import { join } from "node:path";
import { type FileStat, getReason, isInside, type SkillFs } from "../fs.ts";
import type { Pacer } from "../pacer.ts";
import type { Skill } from "../skill.ts";
import { sha256 } from "../text.ts";

/** The fingerprint of a skill's folder. */
export interface SkillPin {
  /** SHA-256 over all files, as 64 hexadecimal digits. */
  readonly digest: string;
  /** SHA-256 of each file by path in the folder. A link to a file has the hash of that file. */
  readonly files: Readonly<Record<string, string>>;
}

/** Changes of a folder since it was pinned, by path. */
export interface SkillChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** A folder that cannot be pinned because it is too large or unreadable. */
export class SkillFolderError extends Error {
  override readonly name = "SkillFolderError";
  readonly code: "too_large" | "unreadable";

  constructor(code: SkillFolderError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Limits for a skill's folder. Folders and other entries count as files. */
const MAX_FILES = 1_000;
const MAX_FILE_BYTES = 8_000_000;
const MAX_TOTAL_BYTES = 50_000_000;
const MAX_DEPTH = 16;

/** Computes fingerprints of folders. Only files that changed are read again. */
export class Pinner {
  readonly #fs: SkillFs;
  readonly #pacer: Pacer;
  readonly #hashes = new Map<string, { readonly stamp: string; readonly hash: string }>();

  constructor(fs: SkillFs, pacer: Pacer) {
    this.#fs = fs;
    this.#pacer = pacer;
  }

  /** @throws SkillFolderError */
  async pin(skill: Skill): Promise<SkillPin> {
    try {
      return await this.#pinned(skill);
    } catch (error) {
      if (error instanceof SkillFolderError) throw error;
      throw new SkillFolderError("unreadable", `${skill.dir} cannot be read: ${getReason(error)}.`);
    }
  }

  async #pinned({ dir, root }: Skill): Promise<SkillPin> {
    const files = await this.#listFiles(dir);
    const hashes: [path: string, hash: string][] = [];
    for (const { path, stat } of files) {
      await this.#pacer.pause();
      const place = join(dir, path);
      hashes.push([
        path,
        stat.kind === "link" ? this.#hashLink(place, dir, root) : this.#hash(place, stat, root),
      ]);
    }
    // `fromEntries` keeps any file name, including `__proto__`.
    return { digest: sha256(JSON.stringify(hashes)), files: Object.fromEntries(hashes) };
  }

  #hash(path: string, stat: FileStat, root: string): string {
    const before = this.#hashes.get(path);
    if (before?.stamp === stat.stamp) return before.hash;
    const bytes = this.#fs.read(path, MAX_FILE_BYTES, root);
    if (bytes === undefined) {
      throw new SkillFolderError("unreadable", `${path} cannot be read, or a link leads to it.`);
    }
    const hash = sha256(bytes);
    this.#hashes.set(path, { stamp: stat.stamp, hash });
    return hash;
  }

  /** Pins the file that a link leads to. A link out of the source is pinned by its target's path. */
  #hashLink(path: string, dir: string, root: string): string {
    const real = this.#fs.realpath(path);
    const target = real === undefined ? undefined : this.#fs.stat(real);
    if (real === undefined || target === undefined || !isInside(real, root))
      return sha256(`link ${real ?? ""}`);
    if (target.kind === "file") return this.#hash(real, target, root);
    if (target.kind === "folder" && isInside(real, this.#fs.realpath(dir) ?? dir))
      return sha256(`link ${real}`);
    throw new SkillFolderError("unreadable", `${path} leads to ${real}, which is not a file of the skill.`);
  }

  /** Returns all files and links of a folder, sorted by path. Other entries are ignored. */
  async #listFiles(dir: string): Promise<{ readonly path: string; readonly stat: FileStat }[]> {
    const files: { path: string; stat: FileStat }[] = [];
    let entries = 0;
    let bytes = 0;
    const visit = async (prefix: string, depth: number) => {
      await this.#pacer.pause();
      if (depth > MAX_DEPTH) {
        throw new SkillFolderError("too_large", `${dir} has more than ${MAX_DEPTH} levels of folders.`);
      }
      for (const { name } of this.#fs.list(join(dir, prefix), MAX_FILES + 1) ?? []) {
        if (name === ".git") continue;
        const path = prefix === "" ? name : `${prefix}/${name}`;
        const stat = this.#fs.stat(join(dir, path));
        entries++;
        bytes += stat?.size ?? 0;
        if (entries > MAX_FILES || bytes > MAX_TOTAL_BYTES || (stat?.size ?? 0) > MAX_FILE_BYTES) {
          const limits = `${MAX_FILES} files, ${MAX_FILE_BYTES} bytes in one file, or ${MAX_TOTAL_BYTES} bytes in total`;
          throw new SkillFolderError("too_large", `${dir} has more than ${limits}.`);
        }
        if (stat?.kind === "folder") await visit(path, depth + 1);
        if (stat?.kind === "file" || stat?.kind === "link") files.push({ path, stat });
      }
    };
    await visit("", 0);
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

/** Compares two pins. Returns undefined if they are equal. */
export function comparePins(before: SkillPin, after: SkillPin): SkillChange | undefined {
  if (before.digest === after.digest) return undefined;
  const has = (pin: SkillPin, path: string) => Object.hasOwn(pin.files, path);
  const added = Object.keys(after.files).filter((path) => !has(before, path));
  const removed = Object.keys(before.files).filter((path) => !has(after, path));
  const changed = Object.keys(after.files).filter(
    (path) => has(before, path) && before.files[path] !== after.files[path],
  );
  return { added, removed, changed };
}
