import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { copyFile, cp } from "node:fs/promises";
import { basename, join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { openStore } from "@signalbox/store";
import { lockHome } from "./database.ts";
import { GatewayError } from "./errors.ts";
import { prepareHome } from "./folders.ts";
import type { Home } from "./layout.ts";

/** What a restore put into a home. */
export interface Restored {
  /** Bytes of the database. */
  readonly databaseBytes: number;
  /** Where lies what the home had before; absent where that was nothing. */
  readonly before?: string;
}

/**
 * Puts a backup in the place of what a home keeps. What was there is kept in a folder of its own; until the backup is
 * there whole, nothing of it is touched.
 * @throws GatewayError where a gateway holds the home, or the folder holds no backup that can be used
 */
export async function restoreBackup(home: Home, folder: string, now: Date): Promise<Restored> {
  const backup = join(folder, "signalbox.db");
  if (!existsSync(backup))
    throw new GatewayError("usage", `${folder} is not a backup: it contains no signalbox.db.`);
  prepareHome(home);
  const lock = lockHome(home);
  const next = join(home.dir, "restore.part");
  try {
    rmSync(next, { recursive: true, force: true });
    mkdirSync(next, { mode: 0o700 });
    const copy = join(next, basename(backup));
    await copyFile(backup, copy);
    // Not the backup itself, which may be where nothing can be written: SQLite puts files beside what it opens.
    const databaseBytes = await soundBytes(copy, backup);
    if (existsSync(join(folder, "media")))
      await cp(join(folder, "media"), join(next, "media"), { recursive: true });
    const before = setAside(home, now);
    renameSync(copy, home.databaseFile);
    if (existsSync(join(next, "media"))) renameSync(join(next, "media"), home.mediaDir);
    return { databaseBytes, ...(before === undefined ? {} : { before }) };
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("cannot_write", `Not restored: ${reasonOf(error)}.`, { cause: error });
  } finally {
    rmSync(next, { recursive: true, force: true });
    lock.release();
  }
}

/** The bytes of a copy of a backup's database, which has to be sound. */
async function soundBytes(copy: string, backup: string): Promise<number> {
  try {
    const store = await openStore({ path: copy, access: "read" });
    try {
      const { ok, problems } = await store.admin.integrity();
      if (!ok) throw new Error(`it is damaged: ${problems.join("; ")}`);
      return (await store.admin.file()).fileBytes;
    } finally {
      await store.close();
    }
  } catch (error) {
    throw new GatewayError("failure", `The backup ${backup} cannot be used: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

/**
 * Moves what the backup replaces into a folder of its own. What of the audit and the memory follows from it goes along.
 */
function setAside(home: Home, now: Date): string | undefined {
  const replaced = [
    ...["", "-wal", "-shm", "-journal"].map((end) => `${home.databaseFile}${end}`),
    home.mediaDir,
    home.auditHeadFile,
    join(home.dir, "memory"),
  ].filter((path) => existsSync(path));
  if (replaced.length === 0) return undefined;
  const before = join(home.dir, `before-restore-${now.toISOString().replaceAll(":", "-")}`);
  mkdirSync(before, { mode: 0o700 });
  for (const path of replaced) renameSync(path, join(before, basename(path)));
  return before;
}
