import { open, stat } from "node:fs/promises";
import { hashOf } from "../hash.ts";
import { isMissing } from "../notes/folder.ts";

/** How a file looks from outside. */
export interface Look {
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Up to where a file was read. */
export interface Place {
  readonly end: number;
  /** Of the bytes before the end: whoever edits what stands before it moves them. */
  readonly tail: string;
  /** As the file was when it was read to its end. */
  readonly look?: Look;
}

const TAIL_BYTES = 4_096;

/** That of a file that is not there is the one of an empty one. */
export async function lookAt(path: string): Promise<Look> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { size, changedAt: mtimeMs };
  } catch (error) {
    if (isMissing(error)) return { size: 0, changedAt: 0 };
    throw error;
  }
}

export function isSameLook(one: Look | undefined, other: Look): boolean {
  return one !== undefined && one.size === other.size && one.changedAt === other.changedAt;
}

/** Whether a file that looks so now has only grown since it was read. */
export async function hasGrown(path: string, { end, tail, look }: Place, now: Look): Promise<boolean> {
  return now.size > (look?.size ?? end - 1) && tail === (await tailOf(path, end));
}

/** The hash of the bytes before a place in a file. */
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

/** A place as a mark keeps it. */
export function writePlace(place: Place): string {
  return JSON.stringify(place);
}

/** Undefined where nothing was read, or nobody knows any more what. */
export function readPlace(mark = "null"): Place | undefined {
  try {
    const place: unknown = JSON.parse(mark);
    return isPlace(place) ? place : undefined;
  } catch {
    return undefined;
  }
}

function isPlace(value: unknown): value is Place {
  return typeof value === "object" && value !== null && "end" in value && "tail" in value;
}
