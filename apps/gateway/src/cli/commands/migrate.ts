import { existsSync } from "node:fs";
import { GatewayError, locateHome, lockHome } from "@signalbox/home";
import { openFileTables } from "@signalbox/store";
import type { CommonOptions } from "../common-options.ts";
import { formatCommand } from "../format-command.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

/** `signalbox migrate --to <url>`: copies the database file into PostgreSQL and marks it as moved. */
export async function migrate({ to, ...options }: CommonOptions & { readonly to: string }): Promise<void> {
  const home = locateHome(options.home, process.env);
  if (!existsSync(home.databaseFile))
    throw new GatewayError("failure", `There is no database ${home.databaseFile} to migrate.`);
  const lock = lockHome(home);
  try {
    const tables = openFileTables(home.databaseFile);
    try {
      const { copyFile } = await import("@signalbox/store-postgres");
      const rows = await withProgress("Copying", () => copyFile(to, tables));
      tables.markMoved();
      print(options.json, { rows }, () => [
        ...Object.entries(rows).map(([table, count]) => `${String(count).padStart(12)}  ${table}`),
        "The rows and the audit chain were compared. The file remains, and no gateway opens it any longer.",
        `Set \`store.url\` in the configuration, then start the gateway with ${formatCommand(home, "start")}.`,
      ]);
    } finally {
      tables.close();
    }
  } finally {
    lock.release();
  }
}
