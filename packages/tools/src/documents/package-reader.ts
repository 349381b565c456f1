import { strFromU8, unzipSync } from "fflate";

/** Maximum size of all parts that are read, decompressed, in bytes. */
const MAX_BYTES = 50_000_000;
/** Maximum number of parts that are read. */
const MAX_PARTS = 2_000;

/** The parts of an Office file by their path. */
export interface OfficePackage {
  /** Returns the XML of a part, or an empty string if there is none. */
  read(path: string): string;
}

/**
 * Opens an Office file, which is a ZIP archive of XML files (ECMA-376, part 2).
 *
 * @throws Error if its parts are larger than allowed
 */
export function openOfficePackage(bytes: Uint8Array): OfficePackage {
  let size = 0;
  let count = 0;
  const parts = unzipSync(bytes, {
    filter({ name, size: storedSize, originalSize }) {
      if (!/\.(xml|rels)$/i.test(name)) return false;
      // The declared size limits the buffer of a compressed part. An uncompressed part is copied with its stored size.
      size += Math.max(storedSize, originalSize);
      count += 1;
      if (size > MAX_BYTES || count > MAX_PARTS)
        throw new Error("the document is too large when decompressed");
      return true;
    },
  });
  return {
    read(path) {
      const part = Object.hasOwn(parts, path) ? parts[path] : undefined;
      return part === undefined ? "" : strFromU8(part);
    },
  };
}
