import { createHash } from "node:crypto";
import { codeOf, type Folder } from "./ports.ts";

/** The folder of a workspace in which what came with messages is kept. */
export interface InboxFolder {
  /**
   * Keeps bytes in the folder of a conversation (`keptIn`), under a name made of their hash and
   * `extension`, which is one of ours. Gives the path.
   */
  keep(keptIn: string, bytes: Uint8Array, extension: string): Promise<string>;
  /** Removes what is too much or too old. Never rejects. */
  clear(): Promise<void>;
}

export interface InboxLimits {
  readonly files: number;
  readonly bytes: number;
  /** How long they are kept, in milliseconds. Default: for ever. */
  readonly ms?: number;
}

/** At the top of each folder. */
export const INBOX_FOLDER = "inbox";
/** What was put there by us, `.tar.gz` and `.Z` included: whatever else lies there is left alone. */
const OURS = /^[0-9a-f]{16}\.(tar\.)?[0-9a-zA-Z]{1,10}$/;
const CONVERSATION = /^[0-9a-f]{16}$/;
/** So many files are added between two looks at all of them. */
const CLEAR_EVERY = 20;

interface KeptFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** When it was kept last, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * When there are too many files, those kept longest ago go, and those that are too old. What hinders that is told to
 * `onUncleared` alone: the file that was to be kept is kept.
 */
export function createInboxFolder(
  folder: Folder,
  onUncleared: (error: unknown) => void,
  limits: () => InboxLimits,
  now: () => number = Date.now,
): InboxFolder {
  let added = CLEAR_EVERY;

  const entriesOf = async (path: string, type: string, ours: RegExp): Promise<readonly string[]> => {
    const { entries } = await folder.list(path).catch((error: unknown) => {
      // Nothing came yet.
      if (codeOf(error) === "not_found") return { entries: [] };
      throw error;
    });
    return entries.flatMap((entry) =>
      entry.type === type && ours.test(entry.name) ? [`${path}/${entry.name}`] : [],
    );
  };
  const lookAt = async (path: string): Promise<KeptFile> => {
    const file = await folder.openFile(path);
    try {
      return { path, size: file.size, at: (await file.handle.stat()).mtimeMs };
    } finally {
      await file.close();
    }
  };
  const newestFirst = async (hindered: (error: unknown) => void): Promise<KeptFile[]> => {
    const files: KeptFile[] = [];
    for (const conversation of await entriesOf(INBOX_FOLDER, "folder", CONVERSATION))
      for (const path of await entriesOf(conversation, "file", OURS)) {
        const file = await lookAt(path).catch(hindered);
        if (file !== undefined) files.push(file);
      }
    return files.toSorted((a, b) => b.at - a.at);
  };

  /** What cannot be looked at or removed keeps none of the others. */
  const clear = async (): Promise<void> => {
    let bytes = 0;
    const most = limits();
    const oldest = most.ms === undefined ? Number.NEGATIVE_INFINITY : now() - most.ms;
    const hindrances: unknown[] = [];
    const hindered = (error: unknown): void => {
      // Somebody else was faster.
      if (codeOf(error) !== "not_found") hindrances.push(error);
    };
    for (const [index, { path, size, at }] of (await newestFirst(hindered)).entries()) {
      bytes += size;
      if (index >= most.files || bytes > most.bytes || at < oldest)
        await folder.removeFile(path).catch(hindered);
    }
    await removeEmpty().catch(hindered);
    if (hindrances.length > 0) throw hindrances[0];
  };
  /** Folders of conversations of which nothing is kept any more. */
  const removeEmpty = async (): Promise<void> => {
    for (const conversation of await entriesOf(INBOX_FOLDER, "folder", CONVERSATION)) {
      const { entries } = await folder.list(conversation);
      // Something may come into it just now, and then it stays.
      if (entries.length === 0) await folder.removeFolder(conversation).catch(() => {});
    }
  };
  /** Its folder may be removed as empty between being looked for and written to. */
  const write = (path: string, bytes: Uint8Array): Promise<string> =>
    folder.writeFile(path, bytes).catch((error: unknown) => {
      if (codeOf(error) === "not_found") return folder.writeFile(path, bytes);
      throw error;
    });

  return {
    async keep(keptIn, bytes, extension) {
      if (!CONVERSATION.test(keptIn))
        throw new TypeError("a conversation's folder has 16 hexadecimal digits");
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
      const path = await write(`${INBOX_FOLDER}/${keptIn}/${hash}.${extension}`, bytes);
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
