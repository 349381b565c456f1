// Puts the built console, the documents and the bundled skills beside the compiled
// code, so that the published package has them.
import { cpSync, existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const assets = at("../dist/assets");
rmSync(assets, { recursive: true, force: true });
for (const [from, to] of [
  [at("../../console/dist"), `${assets}/console`],
  [at("../../../docs"), `${assets}/docs`],
  [at("../../../skills"), `${assets}/skills`],
]) {
  if (!existsSync(from))
    throw new Error(`${from} is missing: build the console first (turbo run build does)`);
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(".png") });
}
