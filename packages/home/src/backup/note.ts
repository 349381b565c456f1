import { readFileSync, writeFileSync } from "node:fs";
import type { Home } from "../layout.ts";

/** The last backup of a home. */
export interface LastBackup {
  /** Folder of the backup. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Records the last backup, so that `signalbox doctor` can warn if it is old. */
export function recordBackup({ backupNoteFile }: Home, last: LastBackup): void {
  writeFileSync(backupNoteFile, `${JSON.stringify(last)}\n`, { mode: 0o600 });
}

/** Returns the last recorded backup, if any. */
export function readLastBackup({ backupNoteFile }: Home): LastBackup | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(backupNoteFile, "utf8"));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

function isNote(value: unknown): value is LastBackup {
  if (typeof value !== "object" || value === null || !("path" in value && "at" in value)) return false;
  return typeof value.path === "string" && typeof value.at === "number";
}
