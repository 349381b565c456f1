import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createBlobs } from "@signalbox/attachments";
import { openStore, type SqliteStore } from "@signalbox/store";
import { withDatabase } from "../database.ts";
import type { Home } from "../layout.ts";
import { type BodiesWithParts, neededBlobs } from "./blobs.ts";

/** What a backup holds. */
export interface BackupReport {
  /** Bytes of the database. */
  readonly databaseBytes: number;
  /** Attachments of replies that have not gone out, and their bytes. */
  readonly media: { readonly files: number; readonly bytes: number };
  /** Attachments that unsent replies name and that were not there, or not what their name says. */
  readonly missing: readonly string[];
}

/** Makes a folder and fills it, see {@link backupInto}. */
export function backupHome(home: Home, folder: string): Promise<BackupReport> {
  return withDatabase<BodiesWithParts, BackupReport>(home, "read", async (store) => {
    await mkdir(folder, { mode: 0o700 });
    return backupInto(folder, { store, mediaDir: home.mediaDir });
  });
}

/**
 * Fills an empty folder with what a home keeps, under the same names, while a gateway works on it: one committed state
 * of the database, and the attachments that the unsent replies in it need. All of it is on the disk when it resolves.
 */
export async function backupInto(
  folder: string,
  { store, mediaDir }: { readonly store: SqliteStore<BodiesWithParts>; readonly mediaDir: string },
): Promise<BackupReport> {
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
  // First those that replies need now: once they are out, the gateway may remove them. What replies of the copy need
  // besides is younger than the copy's beginning, and so stays for long enough.
  await copy(await neededBlobs(store));
  const { bytes: databaseBytes } = await store.admin.backup(databaseFile);
  const opened = await openStore<BodiesWithParts>({ path: databaseFile });
  const needed = await releasedAndRead(opened).finally(() => opened.close());
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
 * Nobody works on the copy: whoever starts on it need not wait for the leases of the gateway it was taken from. Nor is
 * anybody signed in there: a session that has ended by the time of a restore would be good again.
 */
async function releasedAndRead(copy: SqliteStore<BodiesWithParts>): Promise<ReadonlySet<string>> {
  await copy.access.sessions.forget(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  for (const lease of await copy.leases.list()) await copy.leases.release(lease);
  return neededBlobs(copy);
}

async function sync(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const handle = await open(path, "r");
    await handle.sync().finally(() => handle.close());
  }
}
