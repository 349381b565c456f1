import { open, stat } from "node:fs/promises";
import { hashOf } from "../hash.ts";
import { isMissing } from "../notes/folder.ts";

/** Size and modification time of a file. */
export interface FileStat {
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/** The position up to which a file was read. */
export interface FilePosition {
  readonly end: number;
  /** Hash of the bytes before the position. An edit further up moves these bytes. */
  readonly tail: string;
  /** The file's state when it was last read to its end. */
  readonly stat?: FileStat;
}

const TAIL_BYTES = 4_096;

/** Returns the state of a file. A missing file counts as empty. */
export async function statOf(path: string): Promise<FileStat> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { size, changedAt: mtimeMs };
  } catch (error) {
    if (isMissing(error)) return { size: 0, changedAt: 0 };
    throw error;
  }
}

export function isSameStat(one: FileStat | undefined, other: FileStat): boolean {
  return one !== undefined && one.size === other.size && one.changedAt === other.changedAt;
}

/** Returns true if lines were only appended since the file was read up to a position. */
export async function hasGrown(
  path: string,
  { end, tail, stat: previous }: FilePosition,
  current: FileStat,
): Promise<boolean> {
  return current.size > (previous?.size ?? end - 1) && tail === (await tailOf(path, end));
}

/** Returns the hash of the bytes before a position in a file. */
export async function tailOf(path: string, end: number): Promise<string> {
  const start = Math.max(0, end - TAIL_BYTES);
  if (end === 0) return hashOf("");
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    return hashOf(buffer.toString("latin1", 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** Serializes a position, to be stored as a mark. */
export function formatPosition(position: FilePosition): string {
  return JSON.stringify(position);
}

/** @returns `undefined` if there is no position, or an unreadable one */
export function parsePosition(mark = "null"): FilePosition | undefined {
  try {
    const position: unknown = JSON.parse(mark);
    return isPosition(position) ? position : undefined;
  } catch {
    return undefined;
  }
}

function isPosition(value: unknown): value is FilePosition {
  return typeof value === "object" && value !== null && "end" in value && "tail" in value;
}
