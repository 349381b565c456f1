// Puts the program and most of what it imports into few files beside the compiled modules: each file more costs a start
// half a millisecond and 150 KB. Hosts that embed a gateway import `index.js` and the packages themselves.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { Visitor } from "rolldown/utils";
import { notices } from "../../../scripts/notices.mjs";

const dist = join(import.meta.dirname, "..", "dist");
const beside = (file) => join(import.meta.dirname, file);
const builtIn = (name) => dirname(fileURLToPath(import.meta.resolve(`@signalbox/${name}`)));

/**
 * What stays an import: what is native or reads files of its own, the platforms' SDKs, and what only a replay needs.
 */
const IMPORTED = [
  "@signalbox/testkit",
  "@slack/bolt",
  "better-sqlite3",
  "grammy",
  "sqlite-vec",
  "unpdf",
  "web-tree-sitter",
];

/** What `signalbox start` imports in turn, before it is ready. */
const UNTIL_READY = ["/commands/start.js", "/program/prepare.js"];

/** What so many commands share that one file of it costs each of them less than several. */
const COMMON = 8;

/** The server's adapter asks for it, but this program serves no HTTP/2. */
const isUnused = (id, importer = "") => id === "node:http2" && importer.includes("/@hono/node-server/");

const common = {
  platform: "node",
  external: (id, importer) =>
    (isBuiltin(id) && !isUnused(id, importer)) ||
    IMPORTED.some((name) => id === name || id.startsWith(`${name}/`)),
};
const written = {
  // All in one folder with the compiled modules: assets are found from there.
  dir: dist,
  // One character beyond Latin-1 has the engine keep the whole file with two bytes for each.
  charset: "ascii",
  // The engine keeps the text, too. Names stay, for whoever reads a stack.
  minify: {
    compress: { keepNames: { function: true, class: true } },
    mangle: false,
    codegen: { removeWhitespace: true },
  },
  comments: { legal: true, annotation: true, jsdoc: false },
};

/** Has what is outside of the bundle imported by the module that opens it: its own files may import nothing. */
const importsOutside = {
  name: "imports-outside",
  renderChunk(code) {
    const places = [];
    new Visitor({ ImportExpression: ({ start }) => places.push(start) }).visit(parseAst(code));
    return places.reduceRight(
      (text, at) => `${text.slice(0, at)}importOutside${text.slice(at + "import".length)}`,
      code,
    );
  },
};

for (const file of readdirSync(dist).filter((name) => name.startsWith("signalbox"))) rmSync(join(dist, file));
const output = [...(await writeProgram()), ...(await writeOpeners())];
writeFileSync(join(dist, "THIRD-PARTY.txt"), notices(output));

/** The program, as `openBundle` of the command line's package loads it. */
async function writeProgram() {
  const bundle = await rolldown({
    ...common,
    input: {
      "signalbox-code": join(dist, "program", "program.js"),
      "signalbox-schemas": beside("schemas.mjs"),
    },
    plugins: [
      inPlaceOf(/^undici$/, "undici.mjs"),
      inPlaceOf(/\/installed\.js$/, "installed.mjs"),
      inPlaceOf(/^node:http2$/, "http2.mjs"),
      importsOutside,
    ],
    transform: { define: { "import.meta": "importMeta" } },
  });
  const atStart = await modulesUntilReady(bundle);
  const { output: files } = await bundle.write({
    ...written,
    format: "cjs",
    entryFileNames: "[name].cjs",
    // By what is in them: a program that still runs while another version takes its place gets no part of that one.
    chunkFileNames: "signalbox-[name]-[hash].cjs",
    codeSplitting: {
      groups: [
        // A file of its own, as it is set before the first schema is made.
        { name: "zod", test: /[\\/]node_modules[\\/]zod[\\/]/ },
        { name: "common", test: (id) => atStart.has(id), minShareCount: COMMON },
        { name: "gateway", test: (id) => atStart.has(id) },
      ],
    },
  });
  await bundle.close();
  return files;
}

/** What is started by its file: the command, and threads and processes of their own. */
async function writeOpeners() {
  const bundle = await rolldown({
    ...common,
    input: {
      signalbox: join(dist, "program", "main.js"),
      "signalbox-program": beside("bundled-program.mjs"),
      "json-schema-worker": join(builtIn("agent-core"), "tools", "json-schema-worker.js"),
      "article-worker": join(builtIn("tools"), "web", "article-worker.js"),
      "pdf-worker": join(builtIn("tools"), "web", "pdf-worker.js"),
      "walk-worker": join(builtIn("tools"), "search", "walk-worker.js"),
      "text-worker": join(builtIn("tools"), "files", "text-worker.js"),
      "account-worker": join(builtIn("channel"), "process", "account-worker.js"),
      "guessable-worker": join(builtIn("home"), "secrets", "guessable-worker.js"),
    },
    plugins: [inPlaceOf(/^\.\/program\.js$/, "bundled-program.mjs")],
  });
  const { output: files } = await bundle.write({
    ...written,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "signalbox-[name]-[hash].js",
  });
  await bundle.close();
  return files;
}

/** A plugin that resolves what `id` matches to a file of this folder. */
function inPlaceOf(id, file) {
  return { name: file, resolveId: { filter: { id }, handler: () => beside(file) } };
}

/**
 * The modules that `signalbox start` imports until the gateway is ready, by a bundle that has a file for each set of
 * commands that share something.
 */
async function modulesUntilReady(bundle) {
  const { output: files } = await bundle.generate({ format: "esm" });
  const chunks = new Map(files.map((chunk) => [chunk.fileName, chunk]));
  const reached = new Set(
    files.filter(({ facadeModuleId }) => UNTIL_READY.some((file) => facadeModuleId?.endsWith(file))),
  );
  for (const { imports } of reached)
    for (const file of imports) if (chunks.has(file)) reached.add(chunks.get(file));
  return new Set([...reached].flatMap(({ moduleIds }) => moduleIds));
}
