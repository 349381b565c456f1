import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { workspaceMembers } from "./scripts/workspace.mjs";

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
const BUILD_DEPENDENCIES = Object.keys(dependencies);

/** What other packages and people can reach of a member: each `./dist/x.js` of its manifest comes from `src/x.ts`. */
function published({ folder, manifest }) {
  const files = [manifest.exports ?? {}, manifest.bin ?? {}].flatMap(filesIn);
  const sources = files.map((file) => file.replace(/^\.?\/?dist\//, "src/").replace(/\.js$/, ".ts"));
  return [...new Set(sources)].filter((source) => existsSync(join(folder, source)));
}

function filesIn(value) {
  return typeof value === "string" ? [value] : Object.values(value).flatMap(filesIn);
}

const members = workspaceMembers().map((member) => [
  member.folder.slice(import.meta.dirname.length + 1),
  {
    // Workers are started by the address of their file; the bundle of the program begins at its first page.
    entry: [
      ...published(member),
      "src/**/*-worker.ts",
      "src/{main,run-signalbox}.ts",
      "{bench,scripts,test}/**/*.{ts,tsx,mts,mjs}",
    ],
    project: ["{src,bench,scripts,test}/**/*.{ts,tsx,mts,mjs}"],
    // It runs against a folder that is beside the repository.
    ignore: ["bench/candidate.mjs"],
  },
]);

export default {
  workspaces: {
    // The dependencies of the root are what `npm start` needs to build the packages without their development dependencies.
    ".": { entry: ["scripts/*.mjs"], project: ["scripts/**"], ignoreDependencies: BUILD_DEPENDENCIES },
    ...Object.fromEntries(members),
  },
  // Discord's bench loads a package to weigh it. The console's build is copied into the gateway's; the program, a bundle,
  // loads the SDKs of channels and providers, the database and the log in it. Bolt wants Undici beside it, the parser of shells finds
  // its own file only as a package of its own, and the grammar of shells is a file that the build copies. Published MCP
  // servers are started as programs of their own.
  ignoreDependencies: [
    "@signalbox/console",
    "@discordjs/core",
    "@discordjs/rest",
    "@discordjs/ws",
    "@google/genai",
    "@mistralai/mistralai",
    "@modelcontextprotocol/conformance",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@playwright/mcp",
    "@slack/bolt",
    "better-sqlite3",
    "grammy",
    "pino",
    "tree-sitter-bash",
    "undici",
    "unpdf",
    "web-tree-sitter",
  ],
  ignoreBinaries: ["mkfifo", "mount", "script", "rg", "systemd-analyze", "umount"],
};
