import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { isBusy, toStoreError } from "./driver-errors.ts";
import { HomeHeldError, isStoreError, StoreError } from "./errors.ts";
import type { JsonValue } from "./types/common.ts";

const lockName = "signalbox.lock";
const holderName = "signalbox.holder.json";

/** The process that holds a home. The process writes these fields itself. */
export interface HomeHolder {
  readonly pid: number;
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Details for other processes, such as the port that the holder listens on. */
  readonly details?: JsonValue;
}

export interface HomeLock {
  readonly holder: HomeHolder;
  /** Replaces the details that other processes can read. */
  describe(details: JsonValue): void;
  /** Releases the lock. Can be called more than once. */
  release(): void;
}

function isHolder(value: unknown): value is HomeHolder {
  return (
    typeof value === "object" &&
    value !== null &&
    "pid" in value &&
    typeof value.pid === "number" &&
    "host" in value &&
    typeof value.host === "string" &&
    "since" in value &&
    typeof value.since === "number"
  );
}

function readHolder(home: string): HomeHolder | undefined {
  try {
    const value: unknown = JSON.parse(fs.readFileSync(join(home, holderName), "utf8"));
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Connections that hold a lock. Without this reference, the garbage collector would close the connection and release
 * the lock.
 */
const held = new Set<Sqlite.Database>();

/** Time limit for taking the lock, in milliseconds. `readHomeHolder` in another process may hold the lock briefly. */
const takeTimeoutMs = 200;

/**
 * Restricts the lock file to its owner. Other users who can open the file could hold a shared lock and lock out the
 * owner. This function does not open an existing file, because closing it would release this process's locks on it.
 */
function closeToOthers(path: string): void {
  try {
    if (!fs.existsSync(path)) fs.writeFileSync(path, "", { flag: "wx", mode: 0o600 });
    else if ((fs.statSync(path).mode & 0o077) !== 0) fs.chmodSync(path, 0o600);
  } catch {
    // Another process created the file, or another user owns it. `take` reports whether the file can be locked.
  }
}

/** Locks a file in the home through the operating system. Returns undefined if another process holds the lock. */
function take(home: string, timeout: number): Sqlite.Database | undefined {
  const path = join(home, lockName);
  let file: Sqlite.Database | undefined;
  try {
    file = new Sqlite(path, { timeout });
    file.exec("BEGIN EXCLUSIVE");
    return file;
  } catch (error) {
    file?.close();
    if (isBusy(error)) return undefined;
    const known = toStoreError(error);
    if (isStoreError(known) && known.code !== "corrupt") throw known;
    throw new StoreError(
      "invalid",
      `${path} cannot be locked (${String(error)}). Take ownership of it, or remove it if no gateway is running here.`,
      { cause: error },
    );
  }
}

/**
 * Gives this process exclusive use of a home. The operating system releases the lock when the process ends for any
 * reason. The holder file next to the lock is only informational.
 *
 * @throws HomeHeldError if another process, or another caller in this process, holds it
 */
export function acquireHomeLock(
  home: string,
  options: { readonly details?: JsonValue; readonly clock?: () => number } = {},
): HomeLock {
  if (!fs.existsSync(home))
    throw new StoreError("invalid", `The home folder ${home} does not exist. Create it first.`);
  closeToOthers(join(home, lockName));
  const lock = take(home, takeTimeoutMs);
  if (lock === undefined) throw new HomeHeldError(home, readHolder(home) ?? {});

  held.add(lock);
  const path = join(home, holderName);
  let holder: HomeHolder = { pid: process.pid, host: os.hostname(), since: (options.clock ?? Date.now)() };
  let released = false;

  function write(): void {
    const part = `${path}.${process.pid}`;
    try {
      fs.writeFileSync(part, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
      fs.renameSync(part, path);
    } catch (error) {
      fs.rmSync(part, { force: true });
      throw error;
    }
  }

  const release = (): void => {
    if (released) return;
    released = true;
    try {
      fs.rmSync(path, { force: true });
    } catch {
      // The holder file has no meaning without the lock.
    }
    held.delete(lock);
    lock.close();
  };

  try {
    if (options.details !== undefined) holder = { ...holder, details: options.details };
    write();
  } catch (error) {
    release();
    throw toStoreError(error);
  }
  return {
    get holder() {
      return holder;
    },
    describe(details) {
      holder = { ...holder, details };
      if (!released) write();
    },
    release,
  };
}

/** Returns the running holder of a home, if any, for programs that connect to it. */
export function readHomeHolder(home: string): HomeHolder | "unknown" | undefined {
  if (!fs.existsSync(join(home, lockName))) return undefined;
  const lock = take(home, 0);
  if (lock === undefined) return readHolder(home) ?? "unknown";
  lock.close();
  return undefined;
}
