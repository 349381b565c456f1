import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "../layout.ts";
import { type BackupReport, backupHome } from "./backup.ts";
import { recordBackup } from "./note.ts";
import { tryRestore } from "./try-restore.ts";

/** Names of scheduled backups. Other folders are never removed. */
const SCHEDULED = /^scheduled-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)$/;

export interface RotationOptions {
  /** Folder for the backups. It is created if it does not exist. */
  readonly dir: string;
  /** Number of scheduled backups to keep. */
  readonly keep: number;
  readonly secrets: boolean;
}

/** Returns the times of the scheduled backups in a folder, in milliseconds since the epoch, oldest first. */
export async function listScheduledBackups(
  dir: string,
): Promise<readonly { readonly path: string; readonly at: number }[]> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  return names.toSorted().flatMap((name) => {
    const stamp = SCHEDULED.exec(name)?.[1];
    if (stamp === undefined) return [];
    return [{ path: join(dir, name), at: Date.parse(stamp.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:")) }];
  });
}

/**
 * Makes a scheduled backup, tests it by restoring it, and removes the oldest ones beyond `keep`. A failed backup leaves
 * the others in place.
 */
export async function rotateBackups(
  home: Home,
  { dir, keep, secrets }: RotationOptions,
  now: Date,
): Promise<BackupReport & { readonly path: string; readonly removed: number }> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, `scheduled-${now.toISOString().replaceAll(":", "-")}`);
  const part = `${path}.${randomBytes(6).toString("hex")}.part`;
  try {
    const report = await backupHome(home, part, { secrets, now: now.getTime() });
    await tryRestore(home, part, now);
    await rename(part, path);
    recordBackup(home, { path, at: now.getTime() });
    const old = (await listScheduledBackups(dir)).slice(0, -keep);
    for (const each of old) await rm(each.path, { recursive: true, force: true });
    return { ...report, path, removed: old.length };
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
