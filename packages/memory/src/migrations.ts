import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Resolved by package name, because a host may bundle this code.
const folder = fileURLToPath(new URL("../migrations", import.meta.resolve("@signalbox/memory")));

/** Returns the SQL that drizzle-kit generated, in order. */
export function migrations(): string[] {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(`${folder}/meta/_journal.json`, "utf8"),
  );
  return journal.entries.map(({ tag }) => readFileSync(`${folder}/${tag}.sql`, "utf8"));
}
