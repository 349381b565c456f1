import { randomBytes } from "node:crypto";
import { promises as fs } from "node:fs";
import { dirname } from "node:path";
import { toStoreError } from "./driver-errors.ts";
import { StoreError } from "./errors.ts";

/**
 * Creates a file with the content that `copy` writes. The file gets its final name after it is complete and synced. It
 * is removed if anything fails.
 *
 * @throws StoreError `invalid` if the file exists, `disk_full`, `corrupt`
 */
export async function backupTo(
  toPath: string,
  copy: (part: string) => Promise<void>,
): Promise<{ readonly bytes: number }> {
  if (await exists(toPath)) throw taken(toPath);
  const part = `${toPath}.${randomBytes(6).toString("hex")}.part`;
  try {
    const made = await fs.open(part, "wx", 0o600);
    await made.close();
    await copy(part);
    const file = await fs.open(part, "r+");
    const { size } = await file
      .sync()
      .then(() => file.stat())
      .finally(() => file.close());
    await giveName(part, toPath);
    const folder = await fs.open(dirname(toPath), "r");
    await folder.sync().finally(() => folder.close());
    return { bytes: size };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    for (const name of [part, `${part}-journal`]) await fs.rm(name, { force: true });
  }
}

/** Uses a hard link, because a rename would overwrite a file that was created in the meantime. */
async function giveName(part: string, toPath: string): Promise<void> {
  try {
    await fs.link(part, toPath);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw taken(toPath);
    // Some file systems do not support hard links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
    await fs.rename(part, toPath);
  }
}

function taken(path: string): StoreError {
  return new StoreError("invalid", `${path} already exists. Choose a new file for the backup.`);
}

function exists(path: string): Promise<boolean> {
  return fs.lstat(path).then(
    () => true,
    () => false,
  );
}
