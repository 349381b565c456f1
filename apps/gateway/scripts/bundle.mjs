// Bundles the command line program into `dist`, beside the compiled modules. Hosts that embed a gateway import
// `index.js` and the packages themselves.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { notices } from "../../../scripts/notices.mjs";

const dist = join(import.meta.dirname, "..", "dist");
const compiled = (name) => dirname(fileURLToPath(import.meta.resolve(`@signalbox/${name}`)));

/**
 * Modules that are not bundled: native modules, modules that read their own files, the database driver, SDKs of
 * platforms and of S3, and fake servers for replays.
 */
const EXTERNAL = [
  "@aws-sdk/client-s3",
  "@signalbox/store-postgres",
  "@signalbox/testkit",
  "@slack/bolt",
  "better-sqlite3",
  "grammy",
  "sqlite-vec",
  "unpdf",
  "web-tree-sitter",
];

for (const file of readdirSync(dist).filter((name) => name.startsWith("signalbox"))) rmSync(join(dist, file));
const bundle = await rolldown({
  platform: "node",
  input: {
    signalbox: join(dist, "main.js"),
    "signalbox-program": join(dist, "run-signalbox.js"),
    "json-schema-worker": join(compiled("agent-core"), "tools", "json-schema-worker.js"),
    "article-worker": join(compiled("tools"), "web", "article-worker.js"),
    "office-worker": join(compiled("tools"), "documents", "office-worker.js"),
    "pdf-worker": join(compiled("tools"), "web", "pdf-worker.js"),
    "walk-worker": join(compiled("tools"), "search", "walk-worker.js"),
    "text-worker": join(compiled("tools"), "files", "text-worker.js"),
    "account-worker": join(compiled("channel-process"), "account-worker.js"),
    "guessable-worker": join(compiled("home"), "secrets", "guessable-worker.js"),
  },
  external: (id) => isBuiltin(id) || EXTERNAL.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [
    {
      // The bundle contains the SDKs of the model vendors, so they need not be installed.
      name: "bundled-packages",
      resolveId: {
        filter: { id: /\/installed\.js$/ },
        handler: () => join(import.meta.dirname, "installed.mjs"),
      },
    },
  ],
});
const { output } = await bundle.write({
  // The assets are resolved relative to this folder, so every chunk stays in it.
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  // The hash keeps a running process from loading a chunk of a newer version.
  chunkFileNames: "signalbox-[name]-[hash].js",
  comments: { legal: true, annotation: true, jsdoc: false },
});
await bundle.close();
writeFileSync(join(dist, "THIRD-PARTY.txt"), notices(output));
