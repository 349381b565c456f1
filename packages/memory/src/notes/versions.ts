import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hashOf } from "../hash.ts";
import { isMissing, readNote, writeNote } from "./folder.ts";

/** An earlier state of a note. */
export interface NoteVersion {
  /** Names it, for `restore` of `Memory`. */
  readonly id: string;
  readonly path: string;
  /** When it was kept, in milliseconds. */
  readonly at: number;
}

/** Beyond this the oldest go. */
const KEPT = 30;
const FOLDER = ".versions";
const FILE = /^(\d+)-[\w-]+\.md$/;

/** The earlier states of a note, kept beside the notes under a name that is not listed with them. */
export interface Versions {
  /** Keeps a state, unless it is the one that was kept last. */
  keep(path: string, text: string, at: number): Promise<void>;
  /** Newest first. */
  list(path: string): Promise<NoteVersion[]>;
  read(version: NoteVersion): Promise<string | undefined>;
  /** Changes every kept state of a note: what is forgotten is forgotten there too. */
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
      for (const old of before.slice(KEPT - 1)) await rm(join(folder, fileOf(old)), { force: true });
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
