import { createHash } from "node:crypto";
import { type Folder, getErrorCode } from "./types.ts";

/** The folder of a workspace in which received attachments are stored. */
export interface InboxFolder {
  /**
   * Stores bytes in the folder of a conversation, under a name made of their hash and the extension.
   *
   * @returns the path
   */
  store(conversation: string, bytes: Uint8Array, extension: string): Promise<string>;
  /** Removes files beyond the limits. Never rejects. */
  clear(): Promise<void>;
}

export interface InboxLimits {
  readonly files: number;
  readonly bytes: number;
  /** Maximum age in milliseconds. Default: unlimited. */
  readonly ms?: number;
}

/** The name of the folder, at the top of a workspace. */
export const INBOX_FOLDER = "inbox";
/** Names of stored files, including `.tar.gz` and `.Z`. Other files in the folder are not touched. */
const STORED_FILE = /^[0-9a-f]{16}\.(tar\.)?[0-9a-zA-Z]{1,10}$/;
const CONVERSATION = /^[0-9a-f]{16}$/;
/** Number of new files after which the limits are checked. */
const CLEAR_EVERY = 20;

interface StoredFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** When it was last stored, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Creates the inbox of a workspace. Beyond the limits, the files that were stored longest ago are removed.
 *
 * @param onUncleared is called if old files cannot be removed. A new file is stored nevertheless.
 */
export function createInboxFolder(
  folder: Folder,
  onUncleared: (error: unknown) => void,
  limits: () => InboxLimits,
  now: () => number = Date.now,
): InboxFolder {
  let added = CLEAR_EVERY;

  const listEntries = async (path: string, type: string, names: RegExp): Promise<readonly string[]> => {
    const { entries } = await folder.list(path).catch((error: unknown) => {
      // Nothing was stored yet.
      if (getErrorCode(error) === "not_found") return { entries: [] };
      throw error;
    });
    return entries.flatMap((entry) =>
      entry.type === type && names.test(entry.name) ? [`${path}/${entry.name}`] : [],
    );
  };
  const inspect = async (path: string): Promise<StoredFile> => {
    const file = await folder.openFile(path);
    try {
      return { path, size: file.size, at: (await file.handle.stat()).mtimeMs };
    } finally {
      await file.close();
    }
  };
  const newestFirst = async (onFailure: (error: unknown) => void): Promise<StoredFile[]> => {
    const files: StoredFile[] = [];
    for (const conversation of await listEntries(INBOX_FOLDER, "folder", CONVERSATION))
      for (const path of await listEntries(conversation, "file", STORED_FILE)) {
        const file = await inspect(path).catch(onFailure);
        if (file !== undefined) files.push(file);
      }
    return files.toSorted((a, b) => b.at - a.at);
  };

  /** Continues with the other files if one cannot be inspected or removed. */
  const clear = async (): Promise<void> => {
    let bytes = 0;
    const { files, bytes: maxBytes, ms } = limits();
    const oldest = ms === undefined ? Number.NEGATIVE_INFINITY : now() - ms;
    const failures: unknown[] = [];
    const onFailure = (error: unknown): void => {
      // The file was removed in the meantime.
      if (getErrorCode(error) !== "not_found") failures.push(error);
    };
    for (const [index, { path, size, at }] of (await newestFirst(onFailure)).entries()) {
      bytes += size;
      if (index >= files || bytes > maxBytes || at < oldest) await folder.removeFile(path).catch(onFailure);
    }
    await removeEmpty().catch(onFailure);
    if (failures.length > 0) throw failures[0];
  };
  /** Removes empty folders of conversations. */
  const removeEmpty = async (): Promise<void> => {
    for (const conversation of await listEntries(INBOX_FOLDER, "folder", CONVERSATION)) {
      const { entries } = await folder.list(conversation);
      // Fails if a file has been stored in it in the meantime.
      if (entries.length === 0) await folder.removeFolder(conversation).catch(() => {});
    }
  };
  /** Tries twice, because the folder may be removed as empty between its creation and the write. */
  const write = (path: string, bytes: Uint8Array): Promise<string> =>
    folder.writeFile(path, bytes).catch((error: unknown) => {
      if (getErrorCode(error) === "not_found") return folder.writeFile(path, bytes);
      throw error;
    });

  return {
    async store(conversation, bytes, extension) {
      if (!CONVERSATION.test(conversation))
        throw new TypeError(`"${conversation}" is not the folder of a conversation: 16 hexadecimal digits`);
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
      const path = await write(`${INBOX_FOLDER}/${conversation}/${hash}.${extension}`, bytes);
      added += 1;
      if (added >= CLEAR_EVERY) {
        added = 0;
        await clear().catch(onUncleared);
      }
      return path;
    },
    clear: () => clear().catch(onUncleared),
  };
}
