// Puts each entry of a package into one file, from its sources, and what entries share into a few more: importing a
// module costs about 0.2 ms and 150 KiB, and of a large library mostly what nobody uses. Run from the package's folder,
// once `tsc` has written the declarations.
//
// `dependencies` and `peerDependencies` stay imports: what is native, very large or has to be the same for everybody
// belongs there. Everything else becomes part of the bundle, with its notice in `dist/THIRD-PARTY.txt`.
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
  // Of what comes in both forms, modules: only of them what nobody uses is left out.
  resolve: { mainFields: ["module", "main"] },
  external: (id) => isBuiltin(id) || imported.some((name) => id === name || id.startsWith(`${name}/`)),
  treeshake: { moduleSideEffects: false },
  // What was written for CommonJS asks for its folder by this name, which no module has.
  transform: { define: { __dirname: "import.meta.dirname" } },
});
const { output } = await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  // In the folder of the first entry: what its sources find from where they are, they find from here.
  chunkFileNames: "shared-[name].js",
  // One character beyond Latin-1 has the engine keep the whole file with two bytes for each.
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
 * Declarations that no entry leads to describe what is inside the bundle, and name packages that nobody has to install.
 */
function removeUnreachable(from) {
  const reached = new Set(from);
  for (const file of reached)
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g))
      reached.add(join(dirname(file), `${path}.d.ts`));
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".d.ts") && !reached.has(join(dist, file))) rmSync(join(dist, file));
}
