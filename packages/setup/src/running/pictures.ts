import type { Sharp } from "sharp";

/** A picture as models take it. */
export interface FittedPicture {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Its size, where its file tells it. */
interface PictureSize {
  readonly width?: number;
  readonly height?: number;
}

/** Beyond this side vendors make a picture smaller themselves before their models see it. */
const LONGEST_SIDE = 1_568;
/** 5 MB as base64. */
const MAX_BYTES = 3_750_000;
/** A small file can unpack to a huge picture. */
const MAX_PIXELS = 50_000_000;
const QUALITY = 85;

/**
 * Makes pictures that are larger than models take as small as that, upright and without what cameras note in them. The
 * same picture always comes to the same bytes, so that a request in which it stands again is in a vendor's cache.
 * Undefined for one that is small enough or cannot be read, and for all where the package `sharp` is not installed.
 */
export function createPictureFitter(): (
  bytes: Uint8Array,
  size: PictureSize,
) => Promise<FittedPicture | undefined> {
  let library: ReturnType<typeof loadSharp> | undefined;
  return async (bytes, { width = 0, height = 0 }) => {
    const isSmall = bytes.byteLength <= MAX_BYTES && Math.max(width, height) <= LONGEST_SIDE;
    if (isSmall || width * height === 0 || width * height > MAX_PIXELS) return undefined;
    library ??= loadSharp();
    const sharp = await library;
    if (sharp === undefined) return undefined;
    const picture = sharp(bytes, { limitInputPixels: MAX_PIXELS })
      .autoOrient()
      .resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: "inside", withoutEnlargement: true });
    return encoded(picture).catch(() => undefined);
  };
}

/** What is seen through stays so, unless that takes too much. */
async function encoded(picture: Sharp): Promise<FittedPicture> {
  const { hasAlpha } = await picture.metadata();
  const png = hasAlpha ? await picture.clone().png().toBuffer() : undefined;
  if (png !== undefined && png.byteLength <= MAX_BYTES) return { mimeType: "image/png", bytes: png };
  const bytes = await picture.flatten({ background: "white" }).jpeg({ quality: QUALITY }).toBuffer();
  return { mimeType: "image/jpeg", bytes };
}

/** It is large and of machine code, so nobody has to have it. */
async function loadSharp() {
  try {
    const { default: sharp } = await import("sharp");
    // Pictures come one by one: what is kept of one is of no use to the next.
    sharp.cache(false);
    return sharp;
  } catch {
    return undefined;
  }
}
