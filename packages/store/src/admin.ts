import { backupTo } from "./backup.ts";
import type { Context } from "./context.ts";
import { copyOnThread, vacuumOnThread } from "./file-worker.ts";
import { schemaVersion } from "./migrate.ts";
import type { StoreAdmin } from "./types/admin.ts";
import type { WriteAheadLog } from "./write-ahead-log.ts";

interface Parts {
  readonly path: string;
  /** Absent for in-memory databases and read-only stores. */
  readonly log: WriteAheadLog | undefined;
  /** Runs a checkpoint between two batches. */
  readonly checkpoint: () => Promise<void>;
  readonly importSession: StoreAdmin["importSession"];
}

export function createStoreAdmin(
  { database, queue }: Context,
  { path, log, checkpoint, importSession }: Parts,
): StoreAdmin {
  const { raw } = database;
  const inMemory = path === ":memory:";
  const pragma = (name: string) => Number(raw.pragma(name, { simple: true }));
  const fileBytes = () => pragma("page_count") * pragma("page_size");
  const problems = database.handWritten<object, { integrity_check: string }>("PRAGMA integrity_check(100)");

  return {
    file: () =>
      queue.read(() => ({
        path,
        version: schemaVersion(),
        fileBytes: fileBytes(),
        walBytes: log?.bytes() ?? 0,
        freeBytes: pragma("freelist_count") * pragma("page_size"),
      })),

    async vacuum() {
      const before = await queue.read(fileBytes);
      if (log === undefined) await queue.read(() => raw.exec("VACUUM"));
      else await queue.whileLocked(() => log.leaveTo(() => vacuumOnThread(path)));
      await checkpoint();
      return { freedBytes: Math.max(0, before - fileBytes()) };
    },

    async backup(toPath) {
      await queue.read(() => undefined);
      return backupTo(toPath, async (part) => {
        if (inMemory) raw.prepare("VACUUM INTO ?").run(part);
        else await copyOnThread(path, part);
      });
    },

    integrity: () =>
      queue.read(() => {
        const told = problems.all().map((row) => row.integrity_check);
        const ok = told.length === 1 && told[0] === "ok";
        return { ok, problems: ok ? [] : told };
      }),

    importSession,
    prepare: () => database.prepare(),
    checkpoint,
  };
}
