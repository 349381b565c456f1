import { crc32 } from "node:zlib";
import { ApiError } from "@signalbox/server";
import { escapeLine } from "@signalbox/tools";
import { unzipSync } from "fflate";

/** A file of a skill. */
export interface SkillFile {
  /** Path inside the folder of the skill. */
  readonly path: string;
  readonly content: Uint8Array;
}

export interface ArchiveLimits {
  /** Maximum number of files. */
  readonly files: number;
  /** Maximum total size of the unpacked files, in bytes. */
  readonly bytes: number;
}

/** An entry of the central directory of a ZIP file. */
interface Entry {
  readonly isEncrypted: boolean;
  /** Compression method. 0: stored, 8: deflate. */
  readonly method: number;
  readonly crc: number;
  /** Type of the file in a Unix mode, or 0. */
  readonly type: number;
}

/** Maximum number of entries for each permitted file, since folders and omitted files have entries too. */
const ENTRIES_PER_FILE = 10;
/** Sizes and signatures of APPNOTE.TXT 6.3.10, sections 4.3.12 (central directory) and 4.3.16 (its end). */
const HEADER = { signature: 0x02_01_4b_50, bytes: 46 };
const END = { signature: 0x06_05_4b_50, bytes: 22, maxComment: 65_535 };
/** Type bits of a Unix mode. */
const TYPE = { mask: 0xf0_00, file: 0x80_00, folder: 0x40_00, link: 0xa0_00 };
const ARCHIVE_NAME = /\.(?:zip|jar|tar|tgz|gz|bz2|xz|zst|7z|rar)$/i;

/**
 * Unpacks the ZIP file of a skill in memory. The folder that contains everything, if there is one, is left out of the
 * paths. Hidden files and the resource files of macOS are omitted.
 *
 * @throws ApiError if it is damaged, encrypted or too large, or contains a link, another archive or a path that leads
 *   out of it
 */
export function unpackSkill(zip: Uint8Array, limits: ArchiveLimits): SkillFile[] {
  const entries = readEntries(zip, limits.files * ENTRIES_PER_FILE);
  const kept = new Map<string, Entry>();
  let bytes = 0;
  let place = 0;
  let unpacked: Readonly<Record<string, Uint8Array>>;
  try {
    unpacked = unzipSync(zip, {
      filter({ name, size, originalSize }) {
        const entry = entries[place++];
        if (entry === undefined) throw createDamage();
        assertEntry(name, entry);
        if (name.endsWith("/") || isOmitted(name)) return false;
        if (kept.has(name)) throw new ApiError("bad_request", `${escapeLine(name)} occurs twice.`);
        kept.set(name, entry);
        // The declared size limits the buffer of a compressed file. A stored file is copied with its stored size.
        bytes += Math.max(size, originalSize);
        if (kept.size > limits.files || bytes > limits.bytes) throw createTooLarge(limits);
        return true;
      },
    });
  } catch (error) {
    throw error instanceof ApiError ? error : createDamage();
  }
  const files = [...kept].map(([path, { crc }]) => {
    const content = Object.hasOwn(unpacked, path) ? unpacked[path] : undefined;
    // A file that is larger than declared was cut off.
    if (content === undefined || crc32(content) !== crc) throw createDamage();
    return { path, content };
  });
  return withoutRoot(files);
}

/** Reads the entries in the order in which the archive lists them. */
function readEntries(zip: Uint8Array, max: number): readonly Entry[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  if (count > max)
    throw new ApiError("too_large", `The ZIP file has more than ${max} entries.`, {
      remedy: "Remove files that the skill does not need.",
    });
  const entries: Entry[] = [];
  let at = view.getUint32(end + 16, true);
  for (let number = 0; number < count; number += 1) {
    if (at + HEADER.bytes > end || view.getUint32(at, true) !== HEADER.signature) throw createDamage();
    entries.push({
      isEncrypted: (view.getUint16(at + 8, true) & 1) !== 0,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      type: (view.getUint32(at + 38, true) >>> 16) & TYPE.mask,
    });
    const names = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    at += HEADER.bytes + names.reduce((sum, length) => sum + length, 0);
  }
  return entries;
}

/** Returns the position of the end of the central directory, which a comment may follow. */
function findEnd(view: DataView): number {
  const last = view.byteLength - END.bytes;
  for (let at = last; at >= Math.max(0, last - END.maxComment); at -= 1)
    if (view.getUint32(at, true) === END.signature) return at;
  throw new ApiError("bad_request", "The file is not a ZIP file.", {
    remedy: "Compress the folder of the skill as ZIP. Other formats are not supported.",
  });
}

function assertEntry(name: string, { isEncrypted, method, type }: Entry): void {
  const shown = escapeLine(name);
  if (isEncrypted)
    throw new ApiError("bad_request", `${shown} is encrypted.`, {
      remedy: "Compress the folder again without a password.",
    });
  if (method !== 0 && method !== 8)
    throw new ApiError("bad_request", `${shown} is compressed by a method that is not supported.`, {
      remedy: "Compress the folder again with the method “deflate”.",
    });
  if (type === TYPE.link || (type !== 0 && type !== TYPE.file && type !== TYPE.folder))
    throw new ApiError("bad_request", `${shown} is a link or a special file.`, {
      remedy: "Replace it with a file, and compress the folder again.",
    });
  const names = name.split("/");
  if (name.startsWith("/") || /[\\:]/.test(name) || names.includes(".."))
    throw new ApiError("bad_request", `${shown} leads out of the folder of the skill.`, {
      remedy: "Use an archive that contains only paths inside it.",
    });
  if (ARCHIVE_NAME.test(name))
    throw new ApiError("bad_request", `${shown} is an archive inside the archive.`, {
      remedy: "Unpack it before you compress the folder.",
    });
}

function isOmitted(path: string): boolean {
  return path.split("/").some((name) => name.startsWith(".") || name === "__MACOSX");
}

/** Leaves out the first folder of the paths if it contains all files. */
function withoutRoot(files: readonly SkillFile[]): SkillFile[] {
  const root = files[0]?.path.split("/", 1)[0];
  const prefix = `${root}/`;
  const isShared = files.every(({ path }) => path.startsWith(prefix));
  return files.map(({ path, content }) => ({ path: isShared ? path.slice(prefix.length) : path, content }));
}

function createDamage(): ApiError {
  return new ApiError("bad_request", "The ZIP file is damaged.", {
    remedy: "Compress the folder of the skill again.",
  });
}

function createTooLarge({ files, bytes }: ArchiveLimits): ApiError {
  return new ApiError(
    "too_large",
    `The ZIP file contains more than ${files} files or ${bytes / 1_000} kB, unpacked.`,
    { remedy: "Remove files that the skill does not need, or copy the folder to the workspace." },
  );
}
