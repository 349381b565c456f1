import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hashOf } from "../hash.ts";
import { isMissing, readNote, writeNote } from "./folder.ts";

/** An earlier version of a note. */
export interface NoteVersion {
  readonly id: string;
  readonly path: string;
  /** The time at which it was replaced, in milliseconds since the epoch. */
  readonly at: number;
}

/** Maximum number of versions to keep per note. */
const MAX_VERSIONS = 30;
const FOLDER = ".versions";
const FILE = /^(\d+)-[\w-]+\.md$/;

/** Earlier versions of notes, in a folder that is not searched. */
export interface Versions {
  /** Stores a version, unless it equals the latest one. */
  keep(path: string, text: string, at: number): Promise<void>;
  /** Newest first. */
  list(path: string): Promise<NoteVersion[]>;
  read(version: NoteVersion): Promise<string | undefined>;
  /** Changes all versions of a note, to remove forgotten text. */
  rewrite(path: string, change: (text: string) => string): Promise<void>;
}

export function createVersions(folder: string): Versions {
  const folderOf = (path: string) => `${FOLDER}/${path}`;
  const fileOf = ({ path, id }: NoteVersion) => `${folderOf(path)}/${id}.md`;

  async function list(path: string): Promise<NoteVersion[]> {
    const names = await readdir(join(folder, folderOf(path))).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    return names
      .flatMap((name) => {
        const at = FILE.exec(name)?.[1];
        return at === undefined ? [] : [{ id: name.slice(0, -".md".length), path, at: Number(at) }];
      })
      .sort((a, b) => b.at - a.at || b.id.localeCompare(a.id));
  }

  return {
    list,
    async keep(path, text, at) {
      const before = await list(path);
      const hash = hashOf(text).slice(0, 12);
      if (before[0]?.id.endsWith(`-${hash}`)) return;
      await mkdir(join(folder, folderOf(path)), { recursive: true });
      await writeNote(folder, `${folderOf(path)}/${Math.max(at, (before[0]?.at ?? 0) + 1)}-${hash}.md`, text);
      for (const old of before.slice(MAX_VERSIONS - 1)) await rm(join(folder, fileOf(old)), { force: true });
    },
    read: (version) => readNote(folder, fileOf(version)),
    async rewrite(path, change) {
      for (const version of await list(path)) {
        const text = await readNote(folder, fileOf(version));
        const changed = change(text ?? "");
        if (text !== undefined && changed !== text) await writeNote(folder, fileOf(version), changed);
      }
    },
  };
}
