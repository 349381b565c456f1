// The package that has the grammar of shells compiles a native module when it is installed; of all of it only this file
// is needed, so that it comes with ours.
import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const target = new URL("../dist/grammar/", import.meta.url);
mkdirSync(target, { recursive: true });
for (const name of ["tree-sitter-bash.wasm", "LICENSE"]) {
  copyFileSync(
    fileURLToPath(import.meta.resolve(`tree-sitter-bash/${name}`)),
    fileURLToPath(new URL(name, target)),
  );
}
