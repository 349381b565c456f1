import { createHash } from "node:crypto";
import { codeOf, type Folder } from "./ports.ts";

/** The folder of a workspace in which what came with messages is kept. */
export interface InboxFolder {
  /** Keeps bytes under a name made of their hash and `extension`, which is one of ours. Gives the path. */
  keep(bytes: Uint8Array, extension: string): Promise<string>;
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
/** What was put there by us: whatever else lies there is left alone. */
const OURS = /^[0-9a-f]{16}\.[0-9a-z]{1,10}$/;
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
  limits: InboxLimits,
): InboxFolder {
  let added = CLEAR_EVERY;

  const newestFirst = async (): Promise<KeptFile[]> => {
    const entries = await folder.list(INBOX_FOLDER).catch((error: unknown) => {
      // Nothing came yet.
      if (codeOf(error) === "not-found") return [];
      throw error;
    });
    const files: KeptFile[] = [];
    for (const { name, type } of entries) {
      if (type !== "file" || !OURS.test(name)) continue;
      const path = `${INBOX_FOLDER}/${name}`;
      const file = await folder.openFile(path);
      try {
        files.push({ path, size: file.size, at: (await file.handle.stat()).mtimeMs });
      } finally {
        await file.close();
      }
    }
    return files.toSorted((a, b) => b.at - a.at);
  };

  const clear = async (): Promise<void> => {
    let bytes = 0;
    const oldest = limits.ms === undefined ? Number.NEGATIVE_INFINITY : Date.now() - limits.ms;
    for (const [index, { path, size, at }] of (await newestFirst()).entries()) {
      bytes += size;
      if (index >= limits.files || bytes > limits.bytes || at < oldest) await folder.removeFile(path);
    }
  };

  return {
    async keep(bytes, extension) {
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
      const path = await folder.writeFile(`${INBOX_FOLDER}/${hash}.${extension}`, bytes);
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
