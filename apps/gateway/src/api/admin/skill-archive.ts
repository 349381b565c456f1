import { crc32, inflateRawSync } from "node:zlib";
import { ApiError } from "@signalbox/server";
import { escapeLine } from "@signalbox/tools";

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
  readonly name: string;
  readonly isEncrypted: boolean;
  /** Compression method. 0: stored, 8: deflate. */
  readonly method: number;
  readonly crc: number;
  /** In bytes. */
  readonly packedSize: number;
  /** As declared, in bytes. */
  readonly size: number;
  /** Position of the local header. */
  readonly position: number;
  /** Type of the file in a Unix mode, or 0. */
  readonly type: number;
}

/** Maximum number of entries for each permitted file, since folders and omitted files have entries too. */
const ENTRIES_PER_FILE = 10;
/**
 * Sizes and signatures of APPNOTE.TXT 6.3.10, sections 4.3.7 (local header), 4.3.12 (central directory) and 4.3.16 (its
 * end).
 */
const LOCAL_HEADER = { signature: 0x04_03_4b_50, bytes: 30 };
const HEADER = { signature: 0x02_01_4b_50, bytes: 46 };
const END = { signature: 0x06_05_4b_50, bytes: 22, maxComment: 65_535 };
/** Flags: the file is encrypted, and the name is in UTF-8. */
const FLAG = { encrypted: 1, utf8: 0x8_00 };
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
  const archive = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength);
  const kept = new Map<string, Entry>();
  let bytes = 0;
  for (const entry of readEntries(archive, limits.files * ENTRIES_PER_FILE)) {
    const { name, packedSize, size } = entry;
    assertEntry(entry);
    if (name.endsWith("/") || isOmitted(name)) continue;
    if (kept.has(name)) throw new ApiError("bad_request", `${escapeLine(name)} occurs twice.`);
    kept.set(name, entry);
    bytes += Math.max(packedSize, size);
    if (kept.size > limits.files || bytes > limits.bytes) throw createTooLarge(limits);
  }
  return withoutRoot([...kept].map(([path, entry]) => ({ path, content: unpack(archive, entry) })));
}

/** Reads the entries of the central directory. */
function readEntries(archive: Buffer, max: number): readonly Entry[] {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  if (count > max)
    throw new ApiError("too_large", `The ZIP file has more than ${max} entries.`, {
      remedy: "Remove files that the skill does not need.",
    });
  const entries: Entry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let number = 0; number < count; number += 1) {
    if (at + HEADER.bytes > end || archive.readUInt32LE(at) !== HEADER.signature) throw createDamage();
    const [nameLength = 0, ...lengths] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset));
    const flags = archive.readUInt16LE(at + 8);
    const nameEnd = at + HEADER.bytes + nameLength;
    entries.push({
      name: archive.toString((flags & FLAG.utf8) === 0 ? "latin1" : "utf8", at + HEADER.bytes, nameEnd),
      isEncrypted: (flags & FLAG.encrypted) !== 0,
      method: archive.readUInt16LE(at + 10),
      crc: archive.readUInt32LE(at + 16),
      packedSize: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      type: (archive.readUInt32LE(at + 38) >>> 16) & TYPE.mask,
      position: archive.readUInt32LE(at + 42),
    });
    at = lengths.reduce((sum, length) => sum + length, nameEnd);
  }
  return entries;
}

/** @throws ApiError if the file is damaged, or larger than declared */
function unpack(archive: Buffer, { method, crc, packedSize, size, position }: Entry): Uint8Array {
  const header = archive.subarray(position, position + LOCAL_HEADER.bytes);
  if (header.length < LOCAL_HEADER.bytes || header.readUInt32LE(0) !== LOCAL_HEADER.signature)
    throw createDamage();
  const start = position + LOCAL_HEADER.bytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  const packed = archive.subarray(start, start + packedSize);
  const content = method === 0 ? packed : inflate(packed, size);
  if (content.length !== size || crc32(content) !== crc) throw createDamage();
  return content;
}

/** Decompresses at most `size` bytes, since a small file can contain gigabytes. */
function inflate(packed: Uint8Array, size: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw createDamage();
  }
}

/** Returns the position of the end of the central directory, which a comment may follow. */
function findEnd(archive: Buffer): number {
  const last = archive.length - END.bytes;
  for (let at = last; at >= Math.max(0, last - END.maxComment); at -= 1)
    if (archive.readUInt32LE(at) === END.signature) return at;
  throw new ApiError("bad_request", "The file is not a ZIP file.", {
    remedy: "Compress the folder of the skill as ZIP. Other formats are not supported.",
  });
}

function assertEntry({ name, isEncrypted, method, type }: Entry): void {
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
