import { lstatSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { formatAttachment, INBOX_FOLDER } from "@signalbox/attachments";
import { toFolderName } from "@signalbox/tools";
import { hashFile } from "./home-files.ts";
import { asRecord, asText } from "./settings.ts";
import { isReallyInside } from "./tree.ts";

/** Maximum size of an imported attachment, in bytes. The gateway accepts no larger ones from platforms. */
const MAX_ATTACHMENT_BYTES = 25_000_000;
/** Maximum number of attachments of one message. */
const MAX_PER_MESSAGE = 20;

/** An attachment of a message, as another system describes it. */
interface SourceAttachment {
  readonly kind: string | undefined;
  readonly path: string | undefined;
  readonly mimeType: string | undefined;
}

/** Copies the attachments of one conversation. */
export interface AttachmentFiles {
  /**
   * Returns one line for each attachment of a message. It names the file here, or states that the file was not kept.
   *
   * @param media paths, or objects with `path`, `contentType` and `kind`
   */
  describe(media: unknown, losses: Set<string>): readonly string[];
  /** Files to copy: their paths in the source, by path in the home. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Creates the attachments of a conversation. Only regular files in the folders are read, never what a link leads to.
 *
 * @param folders folders of the source that may contain attachments, such as its media folder and the workspaces
 * @param mediaFolders folders that contain nothing else, in which a file of a home that was moved is found by its name
 * @param locate returns the place of a path of another machine
 * @param workspace workspace of the agent in the home. Undefined if it is the workspace of the source, to which nothing
 *   is written.
 */
export function createAttachmentFiles(source: {
  readonly sessionKey: string;
  readonly workspace: string | undefined;
  readonly folders: readonly string[];
  readonly mediaFolders: readonly string[];
  readonly locate?: (path: string) => string;
}): AttachmentFiles {
  const { sessionKey, workspace, folders, mediaFolders, locate = (path) => path } = source;
  const files = new Map<string, string>();
  const find = (path: string): string | undefined => {
    const named = isAbsolute(path) ? [locate(path)] : folders.map((folder) => resolve(folder, path));
    const moved = mediaFolders.map((folder) => join(folder, basename(path)));
    return [...named, ...moved].find((file) => isUsable(file, folders));
  };
  const store = ({
    path,
    mimeType,
  }: SourceAttachment): { readonly path: string; readonly mimeType: string } | undefined => {
    const file = path === undefined || workspace === undefined ? undefined : find(path);
    if (file === undefined) return undefined;
    const hash = hashFile(file).slice(0, 16);
    const extension = /\.([0-9a-zA-Z]{1,10})$/.exec(file)?.[1] ?? "bin";
    const place = `${INBOX_FOLDER}/${toFolderName(sessionKey)}/${hash}.${extension}`;
    files.set(`${workspace}/${place}`, file);
    return { path: place, mimeType: cleanType(mimeType) };
  };
  return {
    files,
    describe(media, losses) {
      const all = (Array.isArray(media) ? media : []).map(toAttachment);
      if (all.length > MAX_PER_MESSAGE)
        losses.add(`Only the first ${MAX_PER_MESSAGE} attachments of a message are imported.`);
      return all.slice(0, MAX_PER_MESSAGE).map((attachment) => {
        const kind = toKind(attachment);
        const stored = store(attachment);
        if (stored !== undefined) return formatAttachment({ kind, ...stored });
        losses.add(
          "Some attachments are only named, because their files are missing, too large, or not in the home.",
        );
        return `[attachment: ${kind}, not kept]`;
      });
    },
  };
}

/** Returns true for a regular file of acceptable size that is in one of the folders after links are resolved. */
function isUsable(file: string, folders: readonly string[]): boolean {
  try {
    const stat = lstatSync(file);
    if (!stat.isFile() || stat.size > MAX_ATTACHMENT_BYTES) return false;
  } catch {
    // Some entries are no path, such as a `data:` URL, which is too long for one.
    return false;
  }
  return folders.some((folder) => isReallyInside(file, folder));
}

function toAttachment(value: unknown): SourceAttachment {
  if (typeof value === "string") return { kind: undefined, path: value, mimeType: undefined };
  const record = asRecord(value);
  return {
    kind: asText(record?.["kind"]),
    path: asText(record?.["path"]),
    mimeType: asText(record?.["contentType"]),
  };
}

const KINDS = ["image", "audio", "video", "sticker", "file"] as const;
const IMAGES = /\.(png|jpe?g|gif|webp|heic|bmp)$/i;

function toKind({ kind, path = "", mimeType = "" }: SourceAttachment): (typeof KINDS)[number] {
  const named = KINDS.find((each) => each === kind || mimeType.startsWith(`${each}/`));
  return named ?? (IMAGES.test(path) ? "image" : kind === "voice" ? "audio" : "file");
}

function cleanType(mimeType: string | undefined): string {
  const type = mimeType?.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(type) ? type : "application/octet-stream";
}
