// Adds the collation `C` to the text columns in new migrations. Texts then sort in binary order, as in SQLite, whatever
// the locale of the database is. `pnpm migrations` runs it after drizzle-kit.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../migrations/", import.meta.url);
for (const name of readdirSync(folder).filter((file) => file.endsWith(".sql"))) {
  const file = new URL(name, folder);
  const sql = readFileSync(file, "utf8");
  const made = sql.replace(/(" text)(?! COLLATE)/g, '$1 COLLATE "C"');
  if (made !== sql) writeFileSync(file, made);
}
