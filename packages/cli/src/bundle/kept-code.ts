import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { Script } from "node:vm";
// By namespace: an old Node.js has not its name, and the program is to say in words that it is too old.
import * as zlib from "node:zlib";

/** By then a service has started, and loaded what its first request needs. */
const KEPT_AFTER_MS = 5_000;
/** What no process has read for so long belongs to a version that nobody starts any more. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** Before the code: its checksum, as the engine would run whatever a damaged file holds. */
const SUM_BYTES = 4;

/** Compiles what is in the file `path`. */
export type Compile = (path: string, source: string) => Script;

/** Keeps nothing. */
export const compileAnew: Compile = (filename, source) => new Script(source, { filename });

/**
 * Compiles from what was kept of the same source, and keeps what was not: with all functions that have run after five
 * seconds, or when the process ends well before that. Where that cannot be written, the next process compiles again.
 * @param folder for this version of the engine with its flags alone
 * @param purpose what the process does, in letters and dashes: others run other functions
 */
export function compileKept(folder: string, purpose: string): Compile {
  const fresh = new Map<string, Script>();
  const keepNext = (): boolean => {
    const [next] = fresh;
    if (next === undefined) return false;
    fresh.delete(next[0]);
    write(...next);
    return true;
  };
  process.once("exit", (exitCode) => {
    // A command that nobody knows is not asked for again.
    if (exitCode !== 0 || fresh.size === 0) return;
    removeUnused(folder);
    while (keepNext());
  });
  setTimeout(async () => {
    // Each takes some milliseconds.
    while (keepNext()) await pause();
    removeUnused(folder);
  }, KEPT_AFTER_MS).unref();
  return (filename, source) => {
    const file = join(folder, `${purpose}-${zlib.crc32(filename)}-${zlib.crc32(source)}`);
    const script = new Script(source, { filename, cachedData: read(file) });
    if (script.cachedDataRejected !== false) fresh.set(file, script);
    return script;
  };
}

/** Only what is named as here, or was being written when its process was killed; others keep theirs here, too. */
function removeUnused(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (/^[a-z-]+-\d+-\d+(?:\.\d+)?$/.test(name) && Date.now() - statSync(file).atimeMs > UNUSED_MS)
        rmSync(file);
    }
  } catch {
    // It is not there yet, or another process was faster.
  }
}

function read(file: string): Buffer | undefined {
  try {
    const kept = readFileSync(file);
    const code = kept.subarray(SUM_BYTES);
    return kept.readUInt32LE() === zlib.crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function write(file: string, script: Script): void {
  try {
    const code = script.createCachedData();
    const sum = Buffer.alloc(SUM_BYTES);
    sum.writeUInt32LE(zlib.crc32(code));
    mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
    const part = `${file}.${process.pid}`;
    writeFileSync(part, Buffer.concat([sum, code]), { mode: 0o600 });
    renameSync(part, file);
  } catch {
    // It is only slower without.
  }
}
