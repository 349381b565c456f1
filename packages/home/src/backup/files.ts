import { createHash } from "node:crypto";
import { chmod, copyFile, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { Home } from "../layout.ts";

/** Name of the list of files in a backup. */
const MANIFEST = "backup.json";
const FOLDERS = ["workspaces", "skills", "config-history"];
const SECRETS = ["secrets", "token"];
const MAX_DEPTH = 32;

/** A file in a backup. */
interface BackupFile {
  /** Path in the home, with `/`. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Permission bits of the owner. */
  readonly mode: number;
}

/** The files of a home in a backup, besides the database and the attachments. */
export interface BackupManifest {
  readonly version: 1;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly secrets: boolean;
  readonly files: readonly BackupFile[];
}

const manifestSchema: z.ZodType<BackupManifest> = z.object({
  version: z.literal(1),
  createdAt: z.number(),
  secrets: z.boolean(),
  files: z.array(
    z.object({
      path: z.string().refine(isInside),
      sha256: z.string(),
      bytes: z.number(),
      mode: z.number(),
    }),
  ),
});

/** Files that were copied, and entries that were not. */
export interface CopiedFiles {
  readonly files: number;
  readonly bytes: number;
  /** Paths of links and special files, which are not copied. */
  readonly leftOut: readonly string[];
}

/**
 * Copies the configuration with its history, the workspaces and the skills of a home into a backup, and lists them in
 * `backup.json`. Files that change or disappear meanwhile are copied as they are read, or not at all.
 *
 * @param secrets true to copy `secrets/` and the gateway's token, too
 */
export async function copyHomeFiles(
  home: Home,
  folder: string,
  { secrets, now }: { readonly secrets: boolean; readonly now: number },
): Promise<CopiedFiles> {
  const files: BackupFile[] = [];
  const leftOut: string[] = [];
  const copy = async (path: string, depth = 0): Promise<void> => {
    const from = join(home.dir, path);
    const stats = await lstat(from).catch(undefinedIfGone);
    if (stats === undefined) return;
    if (stats.isDirectory() && depth < MAX_DEPTH) {
      for (const name of (await readdir(from)).toSorted()) await copy(`${path}/${name}`, depth + 1);
      return;
    }
    if (!stats.isFile()) {
      leftOut.push(path);
      return;
    }
    const bytes = await readFile(from).catch(undefinedIfGone);
    if (bytes === undefined) return;
    const mode = (stats.mode & 0o700) | 0o400;
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await writeFile(to, bytes, { mode, flush: true });
    files.push({ path, sha256: hashOf(bytes), bytes: bytes.length, mode });
  };
  for (const name of [basename(home.configFile), ...FOLDERS, ...(secrets ? SECRETS : [])]) await copy(name);
  const manifest: BackupManifest = { version: 1, createdAt: now, secrets, files };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, {
    mode: 0o600,
    flush: true,
  });
  return { files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0), leftOut };
}

/**
 * Returns the list of files of a backup. Backups without the list contain only the database and attachments.
 *
 * @throws Error if the list is damaged
 */
export async function readManifest(folder: string): Promise<BackupManifest | undefined> {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch(undefinedIfGone);
  if (text === undefined) return undefined;
  const read = manifestSchema.safeParse(parseJson(text));
  if (!read.success) throw new Error(`${join(folder, MANIFEST)} is damaged`);
  return read.data;
}

/**
 * Copies the listed files out of a backup, after comparing each with its hash.
 *
 * @throws Error naming a file that is missing, changed or no regular file
 */
export async function copyListedFiles(folder: string, { files }: BackupManifest, to: string): Promise<void> {
  for (const { path, sha256, mode } of files) {
    const from = join(folder, path);
    const stats = await lstat(from).catch(undefinedIfGone);
    if (stats?.isFile() !== true) throw new Error(`${from} is missing, or no regular file`);
    const place = join(to, path);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await copyFile(from, place);
    await chmod(place, mode & 0o700);
    if (hashOf(await readFile(place)) !== sha256) throw new Error(`${from} was changed since the backup`);
  }
}

/** Returns true for a path below one of the folders or names that a backup contains. */
function isInside(path: string): boolean {
  const [first = "", ...rest] = path.split("/");
  if ([first, ...rest].some((step) => step === "" || step === "." || step === "..")) return false;
  const isFolder = [...FOLDERS, "secrets"].includes(first);
  return isFolder ? rest.length > 0 : rest.length === 0 && /^(token|signalbox\.(ya?ml|json5?))$/.test(first);
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function undefinedIfGone(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
