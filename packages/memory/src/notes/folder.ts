import { randomBytes } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Scope } from "../types.ts";

/** State of a note file. */
export interface NoteFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Change time (ctime) in microseconds. Unlike the modification time, it cannot be set. */
  readonly changedAt: number;
}

const MAX_DEPTH = 8;
const PEOPLE = "people";
const CHATS = "chats";

export const LASTING = "MEMORY.md";
const DAY = /^(\d{4}-\d\d-\d\d)\.md$/;

/**
 * Returns the scope of a note: a person for `people/<person>/…`, a chat for `chats/<chat>/…`, otherwise `topScope`.
 */
export function scopeOfPath(path: string, topScope: Scope): Scope {
  const [kind, id] = path.split("/");
  if (id === undefined) return topScope;
  if (kind === PEOPLE) return { kind: "person", person: decode(id) };
  if (kind === CHATS) return { kind: "chat", chat: decode(id) };
  return topScope;
}

/** Returns the folder of a scope's notes, with a trailing `/`; empty for the top. */
export function folderOfScope(scope: Scope): string {
  switch (scope.kind) {
    case "everyone":
      return "";
    case "person":
      return `${PEOPLE}/${encode(scope.person)}/`;
    case "chat":
      return `${CHATS}/${encode(scope.chat)}/`;
  }
}

/** Returns noon of the day of a daily note, in milliseconds. */
export function timeOfPath(path: string): number | undefined {
  const day = DAY.exec(path.split("/").at(-1) ?? "")?.[1];
  return day === undefined ? undefined : new Date(`${day}T12:00:00`).getTime();
}

export function dayFile(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}.md`;
}

/** Returns the id of a section, which consists of its path and first line. */
export function partId(path: string, line: number): string {
  return `${path}:${line}`;
}

/** Lists all note files. Skips symbolic links and names that begin with a dot. */
export async function listNotes(folder: string): Promise<NoteFile[]> {
  const files: NoteFile[] = [];
  async function walk(inside: string, depth: number): Promise<void> {
    for (const entry of await entriesOf(join(folder, inside))) {
      const path = `${inside}${entry.name}`;
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory() && depth < MAX_DEPTH) await walk(`${path}/`, depth + 1);
      if (!entry.isFile() || !entry.name.endsWith(".md")) continue;
      const { size, ctimeMs } = await stat(join(folder, path));
      files.push({ path, size, changedAt: Math.trunc(ctimeMs * 1_000) });
    }
  }
  await walk("", 0);
  return files;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** @param maxBytes maximum length. Default: the entire file */
export async function readNote(folder: string, path: string, maxBytes?: number): Promise<string | undefined> {
  try {
    if (maxBytes === undefined) return await readFile(join(folder, path), "utf8");
    const handle = await open(join(folder, path));
    try {
      const length = Math.min(maxBytes, (await handle.stat()).size);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Replaces a file atomically and durably. */
export async function writeNote(folder: string, path: string, text: string): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  const part = join(dirname(target), `.${randomBytes(6).toString("hex")}.part`);
  try {
    const handle = await open(part, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** Encodes an id as one segment of a path. */
function encode(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E").replaceAll("*", "%2A");
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
