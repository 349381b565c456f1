import { resolve } from "node:path";
import { findMissingSecrets, locateHome, restoreBackup } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { formatCommand } from "../format-command.ts";
import { formatMissingSecrets } from "../missing-secrets.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

/**
 * `signalbox restore <folder>`: replaces the home's data with a backup. The old data is kept in a folder next to it.
 */
export async function restore(folder: string, options: CommonOptions): Promise<void> {
  const home = locateHome(options.home, process.env);
  const restored = await withProgress("Restoring", () => restoreBackup(home, resolve(folder), new Date()));
  const missingSecrets = findMissingSecrets(home, process.env);
  print(options.json, { home: home.dir, ...restored, missingSecrets }, () => [
    `Restored the database of the backup (${restored.databaseBytes} bytes) and ${restored.files} other files to ${home.dir}.`,
    ...(restored.before === undefined ? [] : [`The previous data is in ${restored.before}.`]),
    `Tokens and paired people are those of the backup. Check ${formatCommand(home, "tokens list")} and ${formatCommand(home, "pairing list")} for any that you have revoked since.`,
    ...formatMissingSecrets(missingSecrets, formatCommand(home, "doctor")),
    `Start the gateway with ${formatCommand(home, "start")}. It then sends the replies that were unsent in the backup.`,
  ]);
}
