import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "@signalbox/home";
import { extract } from "tar";
import { parseRecord } from "../records.ts";
import { asRecord, asText } from "../settings.ts";

/** Maximum size of all files of an archive, in bytes. */
const MAX_ARCHIVE_BYTES = 20_000_000_000;
const MAX_ENTRIES = 1_000_000;
/** Maximum ratio of the size of the files to that of the archive. Text compresses to a tenth. */
const MAX_RATIO = 200;
/** Size that any archive may have, in bytes. */
const MIN_LIMIT_BYTES = 10_000_000;

/** An extracted backup. */
export interface ExtractedBackup {
  /** The state folder in the extracted files. */
  readonly stateDir: string;
  /** Returns the place of a path of the machine on which the backup was made. */
  locate(path: string): string;
  close(): void;
}

/**
 * Extracts a backup of OpenClaw into a private folder. Links and entries that lead out of the archive are refused.
 *
 * @throws GatewayError if the file is no backup, or if it is hostile
 */
export function extractBackup(file: string): ExtractedBackup {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    extractEntries(file, folder);
    const [root] = findRoots(folder);
    if (root === undefined) throw new Error("it contains no manifest.json");
    const manifest = parseRecord(readFileSync(join(root, "manifest.json"), "utf8"));
    const stateDir = asText(asRecord(manifest["paths"])?.["stateDir"]);
    if (stateDir === undefined) throw new Error("its manifest names no state folder");
    const locate = (path: string): string => join(root, "payload", "posix", posix.normalize(`/${path}`));
    return { stateDir: locate(stateDir), locate, close };
  } catch (error) {
    close();
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("failure", `${file} is not a usable backup of OpenClaw: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

function extractEntries(file: string, folder: string): void {
  const maxBytes = Math.min(MAX_ARCHIVE_BYTES, Math.max(lstatSync(file).size * MAX_RATIO, MIN_LIMIT_BYTES));
  let bytes = 0;
  let entries = 0;
  extract({
    file,
    cwd: folder,
    sync: true,
    strict: true,
    preserveOwner: false,
    filter(path, entry) {
      entries += 1;
      bytes += entry.size ?? 0;
      if (entries > MAX_ENTRIES || bytes > maxBytes) throw new Error("it is larger than a backup can be");
      if (path.startsWith("/") || path.split("/").includes(".."))
        throw new Error("an entry leads out of the archive");
      const type = "type" in entry ? entry.type : "File";
      if (type === "Link" || type === "SymbolicLink") throw new Error("it contains a link");
      return type === "File" || type === "OldFile" || type === "Directory";
    },
  });
}

/** Returns the folder of the backup: the only one in the archive. */
function findRoots(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name))
    .filter((dir) => lstatSync(join(dir, "manifest.json"), { throwIfNoEntry: false })?.isFile() === true);
}
