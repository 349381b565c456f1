import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as pause } from "node:timers/promises";
import { Script } from "node:vm";
// By namespace: an old Node.js has not its name, and the program is to say in words that it is too old.
import * as zlib from "node:zlib";
import { withFlagsOfStart } from "./optimising.ts";

/** By then a service has started, and loaded what its first request needs. */
const KEPT_AFTER_MS = 5_000;
/** How much more code makes it worth being written again. */
const MORE = 1.02;
/** What no process has read for so long belongs to a version that nobody starts any more. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** Before the code: its checksum, as the engine would run whatever a damaged file holds. */
const SUM_BYTES = 4;

const OTHERS_WRITE = 0o022;

/** Compiles what is in the file `path`. */
export type Compile = (path: string, source: string) => Script;

/** Keeps nothing. */
export const compileAnew: Compile = (filename, source) => new Script(source, { filename });

interface Compiled {
  readonly script: Script;
  /** Bytes that are kept of it. */
  kept: number;
}

/**
 * Compiles from what was kept of the same source, and keeps all functions that have run: of what was not kept, after
 * five seconds, or when the process ends well before that; of a process that went on for longer, when it ends well,
 * also what its work has needed since. Where that cannot be written, the next process compiles again.
 * @param folder for this version of the engine with its flags alone
 * @param purpose what the process does, in letters and dashes: others run other functions
 */
export function compileKept(folder: string, purpose: string): Compile {
  if (!closeToOthers(folder)) return compileAnew;
  const all = new Map<string, Compiled>();
  const fresh = () => [...all].filter(([, { kept }]) => kept === 0);
  let isService = false;
  process.once("exit", (exitCode) => {
    const grown = isService ? [...all] : fresh();
    // A command that nobody knows is not asked for again.
    if (exitCode !== 0 || grown.length === 0) return;
    removeUnused(folder);
    for (const one of grown) keep(...one);
  });
  setTimeout(async () => {
    isService = true;
    for (const one of fresh()) {
      keep(...one);
      // Each takes some milliseconds.
      await pause();
    }
    removeUnused(folder);
  }, KEPT_AFTER_MS).unref();
  return (filename, source) => {
    const file = join(folder, `${purpose}-${zlib.crc32(filename)}-${zlib.crc32(source)}`);
    const code = read(file);
    const script = withFlagsOfStart(() => new Script(source, { filename, cachedData: code }));
    all.set(file, { script, kept: script.cachedDataRejected === false ? (code?.byteLength ?? 0) : 0 });
    return script;
  };
}

/** Whether nobody else can lay code down there from now on, for this user's processes to run. */
function closeToOthers(folder: string): boolean {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return true;
    if (!isOwn(stats)) return false;
    if ((stats.mode & OTHERS_WRITE) !== 0) chmodSync(folder, stats.mode & ~OTHERS_WRITE);
    return true;
  } catch {
    return false;
  }
}

/** On Windows files have no such owner. */
function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function keep(file: string, compiled: Compiled): void {
  const code = withFlagsOfStart(() => compiled.script.createCachedData());
  if (code.byteLength < MORE * compiled.kept) return;
  compiled.kept = code.byteLength;
  write(file, code);
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
    // Others may have been there before the folder was closed to them.
    if (!isOwn(statSync(file))) return undefined;
    const kept = readFileSync(file);
    const code = kept.subarray(SUM_BYTES);
    return kept.readUInt32LE() === zlib.crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function write(file: string, code: Buffer): void {
  try {
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
