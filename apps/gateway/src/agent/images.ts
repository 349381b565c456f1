import { IMAGE_LIMITS } from "@signalbox/agent-core";
import { deadline } from "@signalbox/channel";
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

/** @param signal ends the waiting for it */
export type PictureFitter = (
  bytes: Uint8Array,
  size: PictureSize,
  signal?: AbortSignal,
) => Promise<FittedPicture | undefined>;

/** A conversation has come to many pictures before long. */
const LONGEST_SIDE = IMAGE_LIMITS.sideAmongMany;
/** Beyond this side Anthropic makes a picture smaller itself before its models see it, and others not much later. */
const SIDE_THAT_MODELS_SEE = 1_568;
/** Log message if the package `sharp` is not installed. */
export const PICTURES_AS_THEY_ARE =
  "shown as they are, and those too large for models are not shown: run `npm install sharp` where the gateway is installed to have them resized";
/** For one picture, its waiting for the others included, in milliseconds. */
const MOST_MS = 10_000;
/** Pictures that wait or are worked on. */
const MOST_AT_ONCE = 8;
const QUALITY = 85;

/**
 * Shrinks images that vendors would reject, rotates them upright and removes their metadata. The output is
 * deterministic, so a repeated request hits the vendor's cache. Images are processed one at a time, because decoding
 * one may take a hundred megabytes.
 *
 * @param onMissing called once, when the first image needs `sharp` and it is not installed
 * @returns a function that returns undefined if an image is small enough, cannot be read, takes more than ten seconds
 * or arrives while eight others wait, or if `sharp` is missing
 */
export function createPictureFitter(
  onMissing: (error: unknown) => void,
  load: LoadSharp = loadSharp,
): PictureFitter {
  let library: Promise<Awaited<ReturnType<LoadSharp>> | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let atOnce = 0;
  return async (bytes, { width = 0, height = 0 }, signal) => {
    const isSmall = bytes.byteLength <= IMAGE_LIMITS.bytes && Math.max(width, height) <= LONGEST_SIDE;
    if (isSmall || width * height === 0 || width * height > IMAGE_LIMITS.pixels) return undefined;
    library ??= load().catch((error: unknown) => void onMissing(error));
    const sharp = await library;
    if (sharp === undefined || atOnce >= MOST_AT_ONCE || signal?.aborted) return undefined;
    atOnce += 1;
    const limit = deadline(MOST_MS, signal);
    const fitted = last
      .then(() => smaller(sharp(bytes, { limitInputPixels: IMAGE_LIMITS.pixels }), limit.signal))
      .catch(() => undefined)
      .finally(() => {
        atOnce -= 1;
      });
    last = fitted;
    try {
      return await Promise.race([fitted, ended(limit.signal)]);
    } finally {
      limit.end();
    }
  };
}

function ended(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

/** As much of it as fits: all that is taken of its pixels, else those that models see; as PNG where it was one. */
async function smaller(source: Sharp, signal: AbortSignal): Promise<FittedPicture | undefined> {
  signal.throwIfAborted();
  const { format, hasAlpha } = await source.metadata();
  const mimeTypes = format === "png" || hasAlpha ? ["image/png", "image/jpeg"] : ["image/jpeg"];
  for (const side of [LONGEST_SIDE, SIDE_THAT_MODELS_SEE]) {
    const picture = source
      .clone()
      .autoOrient()
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      // sharp stops by itself after the time limit, so an abandoned pass does not continue.
      .timeout({ seconds: MOST_MS / 1_000 });
    for (const mimeType of mimeTypes) {
      signal.throwIfAborted();
      const bytes = await encoded(picture.clone(), mimeType).toBuffer();
      if (bytes.byteLength <= IMAGE_LIMITS.bytes) return { mimeType, bytes };
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

/** Optional, because sharp is large and contains native code. */
async function loadSharp() {
  const { default: sharp } = await import("sharp");
  // Images are rarely processed twice, so a cache would only use memory.
  sharp.cache(false);
  return sharp;
}
