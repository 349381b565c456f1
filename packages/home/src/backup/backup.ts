import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createBlobs } from "@signalbox/attachments";
import { openStore, type SqliteStore } from "@signalbox/store";
import { withDatabase } from "../database.ts";
import { GatewayError } from "../errors.ts";
import type { Home } from "../layout.ts";
import { type BodiesWithParts, neededBlobs } from "./blobs.ts";
import { type CopiedFiles, copyHomeFiles } from "./files.ts";

/** Content of a backup. */
export interface BackupReport {
  /** Size of the database, in bytes. */
  readonly databaseBytes: number;
  /** Attachments of unsent replies. */
  readonly media: { readonly files: number; readonly bytes: number };
  /** Ids of attachments of unsent replies that are missing or do not match their hash. */
  readonly missing: readonly string[];
  /** The configuration, the workspaces and the skills. */
  readonly home: CopiedFiles;
}

const POSTGRES_BACKUP =
  "The database of this gateway is in PostgreSQL. Back it up with its own tools, such as pg_dump, and copy the configuration, secrets/, workspaces/ and skills/.";

/** Options of a backup. */
export interface BackupOptions {
  /** True to copy `secrets/` and the gateway's token. Default: false */
  readonly secrets?: boolean;
  /** Milliseconds since the epoch. Default: now */
  readonly now?: number;
}

/**
 * Creates `folder` and backs the home up into it: the database and attachments, see {@link backupInto}, and then the
 * configuration, the workspaces and the skills.
 */
export function backupHome(
  home: Home,
  folder: string,
  { secrets = false, now = Date.now() }: BackupOptions = {},
): Promise<BackupReport> {
  return withDatabase<BodiesWithParts, BackupReport>(home, "read", async ({ admin, ...store }) => {
    if (admin === undefined) throw new GatewayError("usage", POSTGRES_BACKUP);
    await mkdir(folder, { mode: 0o700 });
    const report = await backupInto(folder, {
      store: { ...store, admin },
      mediaDir: home.mediaDir,
    });
    return { ...report, home: await copyHomeFiles(home, folder, { secrets, now }) };
  });
}

/**
 * Backs a home up into an empty folder, under the same file names, while a gateway may be using it: one committed state
 * of the database, and the attachments of its unsent replies. Resolves after everything is synced.
 */
export async function backupInto(
  folder: string,
  { store, mediaDir }: { readonly store: SqliteStore<BodiesWithParts>; readonly mediaDir: string },
): Promise<Omit<BackupReport, "home">> {
  const media = join(folder, "media");
  const databaseFile = join(folder, "signalbox.db");
  await mkdir(media, { mode: 0o700 });
  const blobs = createBlobs(mediaDir);
  const copied = new Map<string, number>();
  const copy = async (ids: Iterable<string>): Promise<void> => {
    for (const id of ids) {
      const bytes = copied.has(id) ? undefined : await blobs.copy(id, join(media, id));
      if (bytes !== undefined) copied.set(id, bytes);
    }
  };
  // Copy the attachments of currently unsent replies first, because the gateway may remove them after sending.
  // Attachments that are only needed by replies in the copied database are newer and are not removed that soon.
  await copy(await neededBlobs(store));
  const { bytes: databaseBytes } = await store.admin.backup(databaseFile);
  const opened = await openStore<BodiesWithParts>({ path: databaseFile });
  const needed = await prepareCopy(opened).finally(() => opened.close());
  await copy(needed);
  for (const id of [...copied.keys()].filter((one) => !needed.has(one))) {
    await rm(join(media, id));
    copied.delete(id);
  }
  await sync(databaseFile, media, folder);
  return {
    databaseBytes,
    media: { files: copied.size, bytes: [...copied.values()].reduce((sum, bytes) => sum + bytes, 0) },
    missing: [...needed].filter((id) => !copied.has(id)),
  };
}

/**
 * Releases the leases in the copy, so that a gateway that uses the copy does not wait for them. Also removes browser
 * sessions and sign-in links, because they may end between the backup and a restore.
 */
async function prepareCopy(copy: SqliteStore<BodiesWithParts>): Promise<ReadonlySet<string>> {
  await copy.access.sessions.forget(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  for (const namespace of SIGN_INS)
    for (const { key } of await copy.kv.list(namespace)) await copy.kv.delete(namespace, key);
  for (const lease of await copy.leases.list()) await copy.leases.release(lease);
  return neededBlobs(copy);
}

/** Namespaces in which `@signalbox/server` stores sign-in links, unfinished sign-ins and details of sessions. */
const SIGN_INS = ["sign-in-links", "oidc-links", "oidc-pending", "web-sessions"];

async function sync(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const handle = await open(path, "r");
    await handle.sync().finally(() => handle.close());
  }
}
