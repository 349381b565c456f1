#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 node --max-semi-space-size=8 --initial-old-space-size=64
// By namespace: an old Node.js has not every name, and is to read why it cannot run this.
import * as module from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

// The native part of better-sqlite3 ends the process on an older one.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 14)) {
  console.error(`Signalbox needs Node.js 22.14 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

// A service on a shared machine. Old objects are collected each time they have grown by a third, where V8 lets a busy
// heap grow much further, and first at 64 MB, so that neither a start nor a first message waits for it. New objects get
// 8 MB: twice as much would save a tenth of the CPU under load, and take 15 MB. The engine's threads share one arena of
// the C library, where each would hold on to its own, and large pieces go back to the system when they are given up.
// The last four only work at the start of the process, so they stand in the first line.
setFlagsFromString("--heap-growing-percent=30");
// Objects are marked and memory is swept while objects are made: tasks of their own would wake the loop for little.
setFlagsFromString("--no-incremental-marking-task");
setFlagsFromString("--no-concurrent-sweeping");
// The message after a quiet day finds its functions compiled, and the next start those that only a start runs.
setFlagsFromString("--no-flush-bytecode");
// A finished compilation gives its memory back at once, not when a busy machine finds the time.
setFlagsFromString("--no-maglev-destroy-on-background");
// Compiled code is kept between starts, from before anything large is imported, in a folder of the user's own: in that
// of everybody's temporary files, which Node.js would take, another user could lay code down for this process to run.
const { HOME, XDG_CACHE_HOME } = process.env;
const caches = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
if (caches) module.enableCompileCache(join(caches, "signalbox"));
const { runSignalbox } = await import("./program.ts");
await runSignalbox(process.argv);
