import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Seen from `src/` as from the bundle in `dist/`: this file stays where it is.
const folder = fileURLToPath(new URL("../migrations", import.meta.url));

/** What drizzle-kit wrote to make the tables, in order. */
export function migrations(): string[] {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(`${folder}/meta/_journal.json`, "utf8"),
  );
  return journal.entries.map(({ tag }) => readFileSync(`${folder}/${tag}.sql`, "utf8"));
}
