// Puts the program and most of what it imports into few files beside the compiled modules: each file more costs a start
// half a millisecond and 150 KB. Hosts that embed a gateway import `index.js` and the packages themselves.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { notices } from "../../../scripts/notices.mjs";

const dist = join(import.meta.dirname, "..", "dist");
const builtIn = (name) => dirname(fileURLToPath(import.meta.resolve(`@signalbox/${name}`)));
const PROGRAM = "signalbox";

/**
 * What stays an import: what is native, large or reads files of its own, the vendors' SDKs, and what only a replay
 * needs.
 */
const IMPORTED = [
  "@signalbox/testkit",
  "@anthropic-ai/sdk",
  "@google/genai",
  "@mistralai/mistralai",
  "@slack/bolt",
  "better-sqlite3",
  "grammy",
  "openai",
  "pino",
  "sqlite-vec",
  "unpdf",
  "web-tree-sitter",
];

/** What a start imports in turn, before it is ready. */
const UNTIL_READY = ["/commands/start.js", "/program/prepare.js"];

/** What so many parts of the program share that one file of it costs each of them less than several. */
const COMMON = 8;

for (const file of readdirSync(dist).filter((name) => name.startsWith(PROGRAM))) rmSync(join(dist, file));
const bundle = await rolldown({
  input: {
    [PROGRAM]: join(dist, "program", "main.js"),
    // Started by the address of its file, which is looked for in the same folder.
    "article-worker": join(builtIn("tools"), "web", "article-worker.js"),
    "pdf-worker": join(builtIn("tools"), "web", "pdf-worker.js"),
    "walk-worker": join(builtIn("tools"), "search", "walk-worker.js"),
    "text-worker": join(builtIn("tools"), "files", "text-worker.js"),
    "account-worker": join(builtIn("channel"), "process", "account-worker.js"),
    "guessable-worker": join(builtIn("home"), "secrets", "guessable-worker.js"),
  },
  platform: "node",
  plugins: [
    {
      name: "less-of-undici",
      resolveId: { filter: { id: /^undici$/ }, handler: () => join(import.meta.dirname, "undici.mjs") },
    },
  ],
  external: (id) => isBuiltin(id) || IMPORTED.some((name) => id === name || id.startsWith(`${name}/`)),
});
const atStart = await modulesUntilReady();
// All in one folder with the compiled modules: assets are found from there.
const { output } = await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  // By what is in them: a program that still runs while another version takes its place gets no part of that one.
  chunkFileNames: ({ name }) =>
    name === "program" ? `${PROGRAM}-program.js` : `${PROGRAM}-[name]-[hash].js`,
  codeSplitting: {
    groups: [
      // Set before the first schema is made.
      { name: "zod", test: /[\\/]node_modules[\\/]zod[\\/]/ },
      { name: "common", test: (id) => atStart.has(id), minShareCount: COMMON },
      { name: "gateway", test: (id) => atStart.has(id) },
    ],
  },
  // One character beyond Latin-1 has the engine keep the whole file with two bytes for each.
  charset: "ascii",
  // The engine keeps the text, too. Names stay, for whoever reads a stack.
  minify: {
    compress: { keepNames: { function: true, class: true } },
    mangle: false,
    codegen: { removeWhitespace: true },
  },
  comments: { legal: true, annotation: true, jsdoc: false },
});
await bundle.close();
writeFileSync(join(dist, "THIRD-PARTY.txt"), notices(output));

/**
 * The modules that `signalbox start` imports until the gateway is ready, by a bundle that has a file for each set of
 * commands that share something.
 */
async function modulesUntilReady() {
  const { output } = await bundle.generate({ format: "esm" });
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const reached = new Set(
    output.filter(({ facadeModuleId }) => UNTIL_READY.some((file) => facadeModuleId?.endsWith(file))),
  );
  for (const { imports } of reached)
    for (const file of imports) if (chunks.has(file)) reached.add(chunks.get(file));
  return new Set([...reached].flatMap(({ moduleIds }) => moduleIds));
}
