// Prints comment lines that are longer than 120 columns. Fails if there are any.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./workspace.mjs";

const MAX_COLUMNS = 120;
const FILES = ["*.mjs", "{packages,apps,scripts}/**/*.{ts,tsx,mjs,css}"];
const OTHERS_FOLDERS = new Set(["node_modules", "dist", "fixtures", "migrations"]);
const COMMENT = /^\s*(?:\/\/|\/\*|\*\s)/;

/** @param {string} source @returns {number[]} the numbers of lines of comment that are too long */
export function longComments(source) {
  return source
    .split("\n")
    .flatMap((line, index) => (line.length > MAX_COLUMNS && COMMENT.test(line) ? [index + 1] : []));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const exclude = ({ name }) => OTHERS_FOLDERS.has(name);
  const entries = globSync(FILES, { cwd: root, withFileTypes: true, exclude });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const places = files.flatMap((file) =>
    longComments(readFileSync(file, "utf8")).map((line) => `${file.slice(root.length)}:${line}`),
  );
  for (const place of places)
    console.error(`${place}: a line of comment has more than ${MAX_COLUMNS} columns`);
  process.exitCode = places.length === 0 ? 0 : 1;
}
