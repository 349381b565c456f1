// Adds to the tables in new migrations what drizzle does not support: `STRICT`, and `WITHOUT ROWID` if the key is not a
// single integer. `pnpm migrations` runs it after drizzle-kit.
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
