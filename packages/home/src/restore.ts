import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { openStore } from "@signalbox/store";
import { copyListedFiles, readManifest } from "./backup/files.ts";
import { getStoreUrl } from "./config/store-url.ts";
import { lockHome } from "./database.ts";
import { GatewayError } from "./errors.ts";
import { prepareHome } from "./folders.ts";
import type { Home } from "./layout.ts";

/** Result of a restore. */
export interface RestoreReport {
  /** Size of the database, in bytes. */
  readonly databaseBytes: number;
  /** Number of restored files of the configuration, the workspaces and the skills. */
  readonly files: number;
  /** Folder with the replaced files. Absent if the home was empty. */
  readonly before?: string;
}

const POSTGRES_RESTORE =
  "The database of this gateway is in PostgreSQL. Restore it by its own means, such as pg_restore, or remove " +
  "`store.url` from the configuration first.";

/**
 * Replaces the data of a home with a backup, and the configuration, workspaces and skills if the backup contains them.
 * The replaced files are moved into a separate folder, after the backup was copied and checked completely.
 *
 * @throws GatewayError if a gateway holds the home, or if the folder does not contain a usable backup
 */
export async function restoreBackup(home: Home, folder: string, now: Date): Promise<RestoreReport> {
  if (getStoreUrl(home, process.env) !== undefined) throw new GatewayError("usage", POSTGRES_RESTORE);
  const backup = join(folder, "signalbox.db");
  if (!existsSync(backup))
    throw new GatewayError("usage", `${folder} is not a backup: it contains no signalbox.db.`);
  if (!lstatSync(backup).isFile())
    throw new GatewayError("usage", `${backup} is not a regular file. Copy the database itself there.`);
  prepareHome(home);
  const lock = lockHome(home);
  const next = join(home.dir, "restore.part");
  try {
    rmSync(next, { recursive: true, force: true });
    mkdirSync(next, { mode: 0o700 });
    const copy = join(next, basename(backup));
    await copyPrivately(backup, copy);
    // Check the copy, since SQLite creates files next to a database, and the backup may be on a read-only file system.
    const databaseBytes = await checkDatabase(copy, backup);
    await copyMedia(join(folder, "media"), join(next, "media"));
    const files = join(next, "files");
    const manifest = await readManifest(folder);
    if (manifest !== undefined) await copyListedFiles(folder, manifest, files);
    const restored = existsSync(files) ? readdirSync(files) : [];
    const before = moveReplacedFiles(home, now, restored);
    renameSync(copy, home.databaseFile);
    if (existsSync(join(next, "media"))) renameSync(join(next, "media"), home.mediaDir);
    for (const name of restored) renameSync(join(files, name), join(home.dir, name));
    return { databaseBytes, files: manifest?.files.length ?? 0, before };
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("cannot_write", `Not restored: ${reasonOf(error)}.`, { cause: error });
  } finally {
    rmSync(next, { recursive: true, force: true });
    lock.release();
  }
}

/** The name of an attachment: its SHA-256. */
const BLOB_NAME = /^[0-9a-f]{64}$/;

/**
 * Copies the attachments of a backup, which may come from elsewhere: only regular files with names of attachments. A
 * link to a folder would let the gateway delete files there. A backup without the folder has no attachments.
 *
 * @throws GatewayError if the folder is a link or a file, or if it cannot be read
 */
async function copyMedia(from: string, to: string): Promise<void> {
  const folder = await lstat(from).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new GatewayError("failure", `The backup ${from} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  });
  if (folder === undefined) return;
  if (!folder.isDirectory())
    throw new GatewayError("usage", `${from} is not a folder. Copy the attachments themselves there.`);
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isFile() && BLOB_NAME.test(entry.name))
      await copyPrivately(join(from, entry.name), join(to, entry.name));
}

/** Copies a file with mode 0600. The mode of a copy of a backup may be any, as on a read-only or shared volume. */
async function copyPrivately(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o600);
}

/**
 * Checks the copied database and returns its size.
 *
 * @throws GatewayError if it is damaged or not a database of this version
 */
async function checkDatabase(copy: string, backup: string): Promise<number> {
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
 * Moves the files that the backup replaces into a separate folder, together with the audit head and memory indexes,
 * which belong to the old database.
 *
 * @param restored names of the other files and folders that the backup replaces
 */
function moveReplacedFiles(home: Home, now: Date, restored: readonly string[]): string | undefined {
  // Two configuration files of different formats would be an error.
  const isConfigured = restored.some((name) => name.startsWith("signalbox."));
  const configurations = isConfigured ? [home.configFile, ...home.otherConfigFiles] : [];
  const replaced = [
    ...new Set([...configurations, ...restored.map((name) => join(home.dir, name))]),
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
