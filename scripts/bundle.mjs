// Puts each entry of a package into one file, from its sources, and what entries share into a few more: importing a
// module costs about 0.2 ms and 150 KiB, and of a large library mostly what nobody uses. Run from the package's folder,
// once `tsc` has written the declarations.
//
// `dependencies` and `peerDependencies` stay imports: what is native, very large or has to be the same for everybody
// belongs there. Everything else becomes part of the bundle, with its notice in `dist/THIRD-PARTY.txt`.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

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
  external: (id) => isBuiltin(id) || imported.some((name) => id === name || id.startsWith(`${name}/`)),
  treeshake: { moduleSideEffects: false },
});
const { output } = await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "shared/[name].js",
  comments: { legal: true, annotation: true, jsdoc: false },
});
await bundle.close();

const written = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".js") && !written.has(file)) rmSync(join(dist, file));
}
const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? Object.keys(chunk.modules) : []));
const notices = [...new Set(modules.map(packageFolder))].filter((name) => name !== folder).map(notice);
if (notices.length > 0) writeFileSync(join(dist, "THIRD-PARTY.txt"), notices.sort().join("\n\n"));

/** The folder of the package that a module belongs to. */
function packageFolder(file) {
  let at = dirname(file);
  while (!isNamed(join(at, "package.json"))) at = dirname(at);
  return at;
}

/** Some packages have manifests without a name in their folders, which only say what kind of modules are there. */
function isNamed(file) {
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name !== undefined;
}

function notice(at) {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
  const text = readdirSync(at).find((file) => /^licen[cs]e/i.test(file));
  const header = `${name} ${version}, ${license}, ${homepage ?? ""}`;
  return text === undefined ? header : `${header}\n\n${readFileSync(join(at, text), "utf8")}`;
}
