// Drizzle does not know `STRICT` and `WITHOUT ROWID`: gives each new table of the migrations the first, and the second
// where its key is no number of its own. `pnpm migrations` runs it after drizzle-kit.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../migrations/", import.meta.url);
for (const name of readdirSync(folder).filter((file) => file.endsWith(".sql"))) {
  const file = new URL(name, folder);
  const sql = readFileSync(file, "utf8");
  const made = sql.replace(/CREATE TABLE `\w+` \((.*?)\n\);/gs, (statement, columns) => {
    const numbered = /^\t`\w+` integer PRIMARY KEY/m.test(columns);
    return `${statement.slice(0, -1)} STRICT${numbered ? "" : ", WITHOUT ROWID"};`;
  });
  if (made !== sql) writeFileSync(file, made);
}
