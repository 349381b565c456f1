import type { Sharp } from "sharp";

/** A picture as models take it. */
interface FittedPicture {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Its size, where its file tells it. */
interface PictureSize {
  readonly width?: number;
  readonly height?: number;
}

type LoadSharp = () => Promise<typeof import("sharp").default>;

export type PictureFitter = (bytes: Uint8Array, size: PictureSize) => Promise<FittedPicture | undefined>;

/**
 * A request with more than twenty pictures is refused by Anthropic where one has a longer side (with fewer, beyond
 * 8,000), and a conversation has come to twenty before long.
 */
const LONGEST_SIDE = 2_000;
/** Beyond this side Anthropic makes a picture smaller itself before its models see it, and others not much later. */
const SIDE_THAT_MODELS_SEE = 1_568;
/** 5 MB as base64. */
const MAX_BYTES = 3_750_000;
/** A small file can unpack to a huge picture. */
const MAX_PIXELS = 50_000_000;
/** What owners are told where the package is not there. */
export const PICTURES_AS_THEY_ARE =
  "shown as they are, and those larger than models take are not: `npm install sharp`, where the gateway is installed, has them made smaller";
/** Of one pass over a picture. */
const MOST_SECONDS = 10;
const QUALITY = 85;

/**
 * Makes pictures that vendors would refuse as small as they take them, upright and without what cameras note in them.
 * The same picture always comes to the same bytes, so that a request in which it stands again is in a vendor's cache.
 * Undefined for one that is taken as it is, cannot be read or takes too long, and for all where the package `sharp` is
 * not installed. Pictures of all callers are worked on one by one: anybody may send them, and each may take a hundred
 * megabytes while it is unpacked.
 *
 * @param onMissing told once why there is no `sharp`, when the first picture comes that it is needed for
 */
export function createPictureFitter(
  onMissing: (error: unknown) => void,
  load: LoadSharp = loadSharp,
): PictureFitter {
  let library: Promise<Awaited<ReturnType<LoadSharp>> | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return async (bytes, { width = 0, height = 0 }) => {
    const isTaken = bytes.byteLength <= MAX_BYTES && Math.max(width, height) <= LONGEST_SIDE;
    if (isTaken || width * height === 0 || width * height > MAX_PIXELS) return undefined;
    library ??= load().catch((error: unknown) => void onMissing(error));
    const sharp = await library;
    if (sharp === undefined) return undefined;
    const fitted = last.then(() =>
      smaller(sharp(bytes, { limitInputPixels: MAX_PIXELS })).catch(() => undefined),
    );
    last = fitted;
    return fitted;
  };
}

/** As much of it as fits: all that is taken of its pixels, else those that models see; as PNG where it was one. */
async function smaller(source: Sharp): Promise<FittedPicture | undefined> {
  const { format, hasAlpha } = await source.metadata();
  const mimeTypes = format === "png" || hasAlpha ? ["image/png", "image/jpeg"] : ["image/jpeg"];
  for (const side of [LONGEST_SIDE, SIDE_THAT_MODELS_SEE]) {
    const picture = source
      .clone()
      .autoOrient()
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      .timeout({ seconds: MOST_SECONDS });
    for (const mimeType of mimeTypes) {
      const bytes = await encoded(picture.clone(), mimeType).toBuffer();
      if (bytes.byteLength <= MAX_BYTES) return { mimeType, bytes };
    }
  }
  return undefined;
}

/** A JPEG cannot be seen through. */
function encoded(picture: Sharp, mimeType: string): Sharp {
  return mimeType === "image/png"
    ? picture.png()
    : picture.flatten({ background: "white" }).jpeg({ quality: QUALITY });
}

/** It is large and of machine code, so nobody has to have it. */
async function loadSharp() {
  const { default: sharp } = await import("sharp");
  // What is kept of one picture is of no use to the next.
  sharp.cache(false);
  return sharp;
}
