import { resolve } from "node:path";
import { locateHome, restoreBackup } from "@signalbox/home";
import { commandOn } from "../command-on.ts";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

/** `signalbox restore <folder>`: a backup in the place of what the home keeps, which stays beside it. */
export async function restore(folder: string, options: CommonOptions): Promise<void> {
  const home = locateHome(options.home, process.env);
  const restored = await withProgress("Restoring", () => restoreBackup(home, resolve(folder), new Date()));
  print(options.json, { home: home.dir, ...restored }, () => [
    `${home.dir} has the database of the backup (${restored.databaseBytes} bytes).`,
    ...(restored.before === undefined ? [] : [`What it had before is in ${restored.before}.`]),
    `Tokens and paired people are those of the backup: look whether ${commandOn(home, "tokens list")} and ${commandOn(home, "pairing list")} show any that were revoked since.`,
    `Start it with ${commandOn(home, "start")}: replies that were not sent in the backup are sent then.`,
  ]);
}
