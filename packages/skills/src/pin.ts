import { join } from "node:path";
import { sha256 } from "./names.ts";
import type { FileStat, SkillChange, SkillFs, SkillPin } from "./types.ts";

/** What a skill's folder may hold. */
const MAX_FILES = 1_000;
const MAX_TOTAL_BYTES = 50_000_000;
const MAX_DEPTH = 16;

export interface FolderFile {
  /** Path in the folder, with `/`. */
  readonly path: string;
  readonly stat: FileStat;
}

/** A folder that cannot be pinned or copied. */
export class SkillFolderError extends Error {
  override readonly name = "SkillFolderError";
  readonly code: "too-large" | "unreadable" | "not-ours";

  constructor(code: SkillFolderError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** All files and links of a folder, in the order of their paths; other things are passed over. */
export function walkFolder(fs: SkillFs, dir: string): readonly FolderFile[] {
  const files: FolderFile[] = [];
  let bytes = 0;
  const walk = (prefix: string, depth: number) => {
    for (const { name } of fs.list(join(dir, prefix)) ?? []) {
      if (name === ".git") continue;
      const path = prefix === "" ? name : `${prefix}/${name}`;
      const stat = fs.stat(join(dir, path));
      if (stat?.kind === "folder") {
        if (depth === MAX_DEPTH) {
          throw new SkillFolderError("too-large", `${dir} has folders more than ${MAX_DEPTH} deep.`);
        }
        walk(path, depth + 1);
      } else if (stat?.kind === "file" || stat?.kind === "link") {
        files.push({ path, stat });
        bytes += stat.size;
        if (files.length > MAX_FILES || bytes > MAX_TOTAL_BYTES) {
          const limits = `${MAX_FILES} files and ${MAX_TOTAL_BYTES} bytes`;
          throw new SkillFolderError("too-large", `${dir} holds more than ${limits}.`);
        }
      }
    }
  };
  walk("", 0);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Fingerprints folders, reading again only the files that changed. */
export class Pinner {
  readonly #fs: SkillFs;
  readonly #known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  constructor(fs: SkillFs) {
    this.#fs = fs;
  }

  /** @throws SkillFolderError */
  pin(dir: string, root: string): SkillPin {
    const hashes = walkFolder(this.#fs, dir).map(
      ({ path, stat }) => [path, this.#hash(join(dir, path), stat, root)] as const,
    );
    // A list keeps any file name, also `__proto__`, and so does what is made from it.
    return { digest: sha256(JSON.stringify(hashes)), files: Object.fromEntries(hashes) };
  }

  #hash(path: string, stat: FileStat, root: string): string {
    // Where a link leads is what it holds; its target is not read.
    if (stat.kind === "link") return sha256(`link ${this.#fs.realpath(path) ?? ""}`);
    const known = this.#known.get(path);
    if (known?.stamp === stat.stamp) return known.hash;
    const bytes = this.#fs.read(path, MAX_TOTAL_BYTES, root);
    if (bytes === undefined)
      throw new SkillFolderError("unreadable", `${path} cannot be read, or is not where it seems to be.`);
    const hash = sha256(bytes);
    this.#known.set(path, { stamp: stat.stamp, hash });
    return hash;
  }
}

/** What became of a folder between two pins; undefined where nothing. */
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
