// Puts the compiled modules of each entry of a package into one file, and what entries share into a few more: each
// module costs about 0.2 ms and 150 KiB when it is imported. The declarations stay as they are, and so do imports of
// packages. Run from the package's folder; `llm-providers` uses it too.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const root = process.cwd();
const dist = join(root, "dist");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const files = Object.values(exports).map((entry) => entry.default.slice("./dist/".length, -".js".length));
const bundle = await rolldown({
  input: Object.fromEntries(files.map((file) => [file, join(dist, `${file}.js`)])),
  platform: "node",
  external: (id) => !id.startsWith(".") && !id.startsWith("/"),
  treeshake: { moduleSideEffects: false },
});
const { output } = await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "shared/bundled-[name].js",
});
await bundle.close();
const written = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".js") && !written.has(file)) rmSync(join(dist, file));
}
