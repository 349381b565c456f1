// Bundles each entry of a package into one file, with shared code in a few more files: importing a module costs about
// 0.2 ms and 150 KiB, and most of a large library is unused. Run it in the package's folder after `tsc` has written the
// declarations.
//
// `dependencies` and `peerDependencies` stay imports: native and very large modules, and those that must be loaded only
// once. All other modules become part of the bundle, with their notices in `dist/THIRD-PARTY.txt`.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { notices } from "./notices.mjs";

const folder = process.cwd();
const dist = join(folder, "dist");
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const imported = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
const entries = Object.values(manifest.exports).map((entry) =>
  entry.default.slice("./dist/".length, -".js".length),
);

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, join(folder, "src", `${entry}.ts`)])),
  platform: "node",
  // Prefer the ESM version of a dependency, because tree shaking works only on ES modules.
  resolve: { mainFields: ["module", "main"] },
  external: (id) => isBuiltin(id) || imported.some((name) => id === name || id.startsWith(`${name}/`)),
  treeshake: { moduleSideEffects: false },
  // CommonJS modules use `__dirname`, which ES modules do not have.
  transform: { define: { __dirname: "import.meta.dirname" } },
});
const { output } = await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  // Chunks are in the same folder as the first entry, so that sources find files relative to themselves.
  chunkFileNames: "shared-[name].js",
  // With a character beyond Latin-1, V8 would store the whole source as UTF-16.
  charset: "ascii",
  comments: { legal: true, annotation: true, jsdoc: false },
});
await bundle.close();

const written = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (/\.js(on)?$/.test(file) && !written.has(file)) rmSync(join(dist, file));
}
removeUnreachable(entries.map((entry) => join(dist, `${entry}.d.ts`)));
const notice = notices(output);
if (notice !== "") writeFileSync(join(dist, "THIRD-PARTY.txt"), notice);

/**
 * Removes declarations that no entry reaches. They describe bundled modules, and import packages that users do not
 * install.
 */
function removeUnreachable(from) {
  const reached = new Set(from);
  for (const file of reached)
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g))
      reached.add(join(dirname(file), `${path}.d.ts`));
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".d.ts") && !reached.has(join(dist, file))) rmSync(join(dist, file));
}
