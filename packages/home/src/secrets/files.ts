import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Home } from "../layout.ts";

/**
 * Stores a secret in a file of the home that only its owner can read.
 * @returns the reference to it for the configuration
 */
export function storeSecret(home: Home, name: string, value: string): string {
  const folder = join(home.dir, "secrets");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  // A crash leaves the old secret or the new one.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${value}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
  return `\${file:secrets/${name}}`;
}

/** Values that contain secrets, in files of the home that only its owner can read. */
interface SecretValues {
  /** Returns undefined if there is no value, or if the file is damaged. */
  get(name: string): Promise<unknown>;
  /** Stores a JSON value. Without one, removes it. */
  set(name: string, value: unknown): Promise<void>;
  /** Runs `work` while no other process of this home does so for the same name. */
  lock<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

/** Age in milliseconds after which a lock belongs to a process that has ended. */
const STALE_LOCK_MS = 60_000;
const LOCK_RETRY_MS = 50;

/**
 * Opens the values in a folder under `secrets`.
 *
 * @param folder a file name
 */
export function openSecretValues(home: Pick<Home, "dir">, folder: string): SecretValues {
  const dir = join(home.dir, "secrets", folder);
  const getFile = (name: string): string => join(dir, `${encodeURIComponent(name)}.json`);
  return {
    async get(name) {
      try {
        return JSON.parse(await readFile(getFile(name), "utf8"));
      } catch {
        return undefined;
      }
    },
    async set(name, value) {
      const file = getFile(name);
      if (value === undefined) return rm(file, { force: true });
      await mkdir(dir, { recursive: true, mode: 0o700 });
      // A crash leaves the old value or the new one.
      const draft = `${file}.${process.pid}`;
      await writeFile(draft, JSON.stringify(value), { mode: 0o600, flush: true });
      await rename(draft, file);
    },
    async lock(name, work) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const file = `${getFile(name)}.lock`;
      while (!(await createFile(file))) await sleep(LOCK_RETRY_MS);
      try {
        return await work();
      } finally {
        await rm(file, { force: true });
      }
    },
  };
}

/** Creates a file. Returns false if it exists. */
async function createFile(file: string): Promise<boolean> {
  try {
    await (await open(file, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "EEXIST") throw error;
    const stats = await stat(file).catch(() => undefined);
    if (stats !== undefined && Date.now() - stats.mtimeMs > STALE_LOCK_MS) await rm(file, { force: true });
    return false;
  }
}
