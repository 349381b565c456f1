import { createHash } from "node:crypto";
import { constants } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { Home } from "../layout.ts";

/** Name of the list of files in a backup. */
const MANIFEST = "backup.json";
const FOLDERS = ["workspaces", "skills", "config-history"];
const SECRETS = ["secrets", "token"];
const MAX_DEPTH = 32;
const CHUNK_BYTES = 1 << 20;
/** Codes of errors of one file or folder, which do not prevent the backup of the others. */
const UNREADABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "ELOOP", "EMLINK", "ENXIO", "ENOTDIR"]);
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

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
  /** Paths of links, special files, and files and folders that cannot be read. They are not copied. */
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
  const root = await realpath(home.dir);
  const copy = async (path: string, depth = 0): Promise<void> => {
    const entry = await openEntry(root, path);
    if (entry === "gone") return;
    if (entry === "unreadable" || (entry.kind === "folder" && depth >= MAX_DEPTH)) {
      leftOut.push(path);
    } else if (entry.kind === "folder") {
      for (const name of entry.names) await copy(`${path}/${name}`, depth + 1);
    } else {
      const mode = (entry.mode & 0o700) | 0o400;
      const copied = await copyAndHash(entry.file, join(folder, path), mode).finally(() =>
        entry.file.close(),
      );
      files.push({ path, mode, ...copied });
    }
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
    const file = await open(from, READ_FLAGS);
    const copied = await copyAndHash(file, place, mode & 0o700).finally(() => file.close());
    if (copied.sha256 !== sha256) throw new Error(`${from} was changed since the backup`);
  }
}

/** Returns true for a path below one of the folders or names that a backup contains. */
function isInside(path: string): boolean {
  const [first = "", ...rest] = path.split("/");
  if ([first, ...rest].some((step) => step === "" || step === "." || step === "..")) return false;
  const isFolder = [...FOLDERS, "secrets"].includes(first);
  return isFolder ? rest.length > 0 : rest.length === 0 && /^(token|signalbox\.(ya?ml|json5?))$/.test(first);
}

/** A folder with its sorted names, an opened file, or the reason for copying nothing. */
type Entry =
  | { readonly kind: "folder"; readonly names: readonly string[] }
  | { readonly kind: "file"; readonly file: FileHandle; readonly mode: number }
  | "gone"
  | "unreadable";

/**
 * Opens a path below `root`, which contains no links. Links, special files, and entries that may not be read are
 * `unreadable`.
 */
async function openEntry(root: string, path: string): Promise<Entry> {
  const from = join(root, path);
  try {
    const stats = await lstat(from);
    if (stats.isDirectory()) return { kind: "folder", names: (await readdir(from)).toSorted() };
    if (!stats.isFile()) return "unreadable";
    const file = await open(from, READ_FLAGS);
    try {
      // The agent may have replaced the file, or a folder above it, with a link. Only the opened file cannot change.
      const opened = await file.stat();
      if (opened.isFile() && (await isAt(file, from))) return { kind: "file", file, mode: opened.mode };
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return "unreadable";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT") return "gone";
    if (UNREADABLE.has(code)) return "unreadable";
    throw error;
  }
}

/** Returns true if no link led to an opened file. Only Linux can derive its path from the descriptor. */
async function isAt(file: FileHandle, path: string): Promise<boolean> {
  const place = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path));
  // Linux adds the second ending if the file was removed or replaced after it was opened.
  return place === path || place === `${path} (deleted)`;
}

/** Copies an opened file into a new one, and syncs it. Bytes that are added meanwhile are left out. */
async function copyAndHash(
  from: FileHandle,
  to: string,
  mode: number,
): Promise<Pick<BackupFile, "sha256" | "bytes">> {
  const { size } = await from.stat();
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const target = await open(to, "wx", mode);
  try {
    await target.chmod(mode);
    const hash = createHash("sha256");
    let bytes = 0;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    while (bytes < size) {
      const { bytesRead } = await from.read(buffer, 0, Math.min(CHUNK_BYTES, size - bytes));
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      await target.writeFile(chunk);
      bytes += bytesRead;
    }
    await target.sync();
    return { sha256: hash.digest("hex"), bytes };
  } finally {
    await target.close();
  }
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
