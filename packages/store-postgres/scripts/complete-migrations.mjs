// Adds the collation `C` to the text columns in new migrations. Texts then sort in binary order, as in SQLite, whatever
// the locale of the database is. Also makes the tables `UNLOGGED` that a crash of the database may empty, because
// drizzle-kit has no option for it. `pnpm migrations` runs this script after drizzle-kit.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../migrations/", import.meta.url);
for (const name of readdirSync(folder).filter((file) => file.endsWith(".sql"))) {
  const file = new URL(name, folder);
  const sql = readFileSync(file, "utf8");
  const made = sql
    .replace(/(" text)(?! COLLATE)/g, '$1 COLLATE "C"')
    .replace(/CREATE TABLE (?="live_)/g, "CREATE UNLOGGED TABLE ");
  if (made !== sql) writeFileSync(file, made);
}
