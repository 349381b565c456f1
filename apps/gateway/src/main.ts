#!/usr/bin/env node
// Use a namespace import, because unsupported Node.js versions lack some of the names and must still print the error.
import * as module from "node:module";
import { join } from "node:path";

// better-sqlite3's native module crashes on older versions.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 14)) {
  console.error(`Signalbox needs Node.js 22.14 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

// Node.js would use the shared temporary folder, where another user could plant code for this process.
const { HOME, XDG_CACHE_HOME } = process.env;
const caches = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
if (caches) module.enableCompileCache(join(caches, "signalbox"));
const { runSignalbox } = await import("./run-signalbox.ts");
await runSignalbox(process.argv);
