// An `index.ts` is the public surface of its folder and must contain only re-exports. Prints each file with other code.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./workspace.mjs";

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g;
const RE_EXPORT = /export\s+(type\s+)?(\*(\s+as\s+\w+)?|\{[^}]*\})\s+from\s+"[^"]+";/g;

/** @param {string} source @returns {boolean} whether it has re-exports alone */
export function onlyReExports(source) {
  return source.replace(COMMENTS, "").replace(RE_EXPORT, "").trim() === "";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = globSync("{packages,apps}/*/src/**/index.{ts,tsx}", { cwd: root }).sort();
  const offences = files.filter((file) => !onlyReExports(readFileSync(join(root, file), "utf8")));
  for (const file of offences) console.error(`${file}: an index re-exports, and does nothing else`);
  console.log(`${files.length} index files, ${offences.length} that do more than re-export`);
  process.exitCode = offences.length === 0 ? 0 : 1;
}
