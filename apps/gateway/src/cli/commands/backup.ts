import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { backupHome, GatewayError, type Home, locateHome, recordBackup, tryRestore } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { getErrorCode } from "../errors.ts";
import { formatCommand } from "../format-command.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

/**
 * `signalbox backup <folder>` backs up the whole home and tests the backup. The folder gets its final name only after
 * everything was written.
 */
export async function backup(
  folder: string,
  options: CommonOptions & { readonly secrets?: boolean },
): Promise<void> {
  const path = resolve(folder);
  if (existsSync(path)) throw taken(path);
  if (!existsSync(dirname(path)))
    throw new GatewayError(
      "cannot_write",
      `The folder ${dirname(path)} does not exist. Create it first, for instance with mkdir -p.`,
    );
  const part = `${path}.${randomBytes(6).toString("hex")}.part`;
  // A worker thread may write a file into the folder while it is being removed.
  const clear = (): void => rmSync(part, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  const broken = (): void => {
    clear();
    process.exit(130);
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, broken);
  try {
    const home = locateHome(options.home, process.env);
    const report = await withProgress("Copying", () =>
      backupHome(home, part, { secrets: options.secrets === true }),
    );
    await withProgress("Testing", () => tryRestore(home, part, new Date()));
    await rename(part, path).catch((error: unknown) => {
      throw ["EEXIST", "ENOTEMPTY", "ENOTDIR"].includes(getErrorCode(error) ?? "") ? taken(path) : error;
    });
    const parent = await open(dirname(path), "r");
    await parent.sync().finally(() => parent.close());
    const unnoted = note(home, path);
    const { databaseBytes, media, missing, home: copied } = report;
    print(options.json, { path, ...report, tested: true }, () => [
      `${path}: database of ${databaseBytes} bytes, ${media.files} attachments of ${media.bytes} bytes, ${copied.files} other files of ${copied.bytes} bytes`,
      "It was tested by restoring it into a temporary folder.",
      ...(options.secrets === true
        ? ["It contains secrets. Store it where only you can read it."]
        : ["It does not contain `secrets/` and the gateway's token. --secrets adds them."]),
      ...copied.leftOut.map(
        (name) => `${name} is a link, a special file or not readable, and was not copied.`,
      ),
      ...missing.map((id) => `Attachment ${id} of an undelivered reply is no longer kept.`),
      ...unnoted,
    ]);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("cannot_write", `No backup was made: ${reasonOf(error)}`, { cause: error });
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.removeListener(name, broken);
    clear();
  }
}

/** Records the backup in the home. If that fails (disk full, read-only), the backup is still complete. */
function note(home: Home, path: string): string[] {
  try {
    recordBackup(home, { path, at: Date.now() });
    return [];
  } catch (error) {
    return [
      `Could not record the backup in ${home.dir}, so ${formatCommand(home, "doctor")} will not know about it: ${reasonOf(error)}`,
    ];
  }
}

function taken(path: string): GatewayError {
  return new GatewayError("cannot_write", `${path} already exists. Choose a new folder.`);
}
