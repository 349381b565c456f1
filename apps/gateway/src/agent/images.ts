import { IMAGE_LIMITS } from "@signalbox/agent-core";
import { deadline } from "@signalbox/channel";
import type { Sharp } from "sharp";

/** An image in a size and format that models accept. */
interface FittedImage {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Dimensions in pixels, if the file states them. */
interface ImageSize {
  readonly width?: number;
  readonly height?: number;
}

type LoadSharp = () => Promise<typeof import("sharp").default>;

/** @param signal ends the wait for the image */
export type ImageFitter = (
  bytes: Uint8Array,
  size: ImageSize,
  signal?: AbortSignal,
) => Promise<FittedImage | undefined>;

/**
 * Maximum side length in pixels. Vendors apply a lower limit to requests with many images, which a long conversation
 * soon becomes.
 */
const MAX_SIDE = IMAGE_LIMITS.sideAmongMany;
/**
 * Maximum side length in pixels that models see. Anthropic scales images down to this size, and other vendors to a
 * similar one.
 */
const MODEL_SIDE = 1_568;
/** Log message if the package `sharp` is not installed. */
export const IMAGES_NOT_RESIZED =
  "original size; images too large for models are omitted: run `npm install sharp` where the gateway is installed to have them resized";
/** Time limit for one image, including its time in the queue, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Maximum number of images that are queued or in progress. */
const MAX_PENDING = 8;
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
export function createImageFitter(
  onMissing: (error: unknown) => void,
  load: LoadSharp = loadSharp,
): ImageFitter {
  let library: Promise<Awaited<ReturnType<LoadSharp>> | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let atOnce = 0;
  return async (bytes, { width = 0, height = 0 }, signal) => {
    const isSmall = bytes.byteLength <= IMAGE_LIMITS.bytes && Math.max(width, height) <= MAX_SIDE;
    if (isSmall || width * height === 0 || width * height > IMAGE_LIMITS.pixels) return undefined;
    library ??= load().catch((error: unknown) => void onMissing(error));
    const sharp = await library;
    if (sharp === undefined || atOnce >= MAX_PENDING || signal?.aborted) return undefined;
    atOnce += 1;
    const limit = deadline(TIMEOUT_MS, signal);
    const fitted = last
      .then(() => shrink(sharp(bytes, { limitInputPixels: IMAGE_LIMITS.pixels }), limit.signal))
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

/**
 * Resizes an image to fit the limits: first at its full resolution, then at the resolution that models see. PNG images
 * stay PNG.
 */
async function shrink(source: Sharp, signal: AbortSignal): Promise<FittedImage | undefined> {
  signal.throwIfAborted();
  const { format, hasAlpha } = await source.metadata();
  const mimeTypes = format === "png" || hasAlpha ? ["image/png", "image/jpeg"] : ["image/jpeg"];
  for (const side of [MAX_SIDE, MODEL_SIDE]) {
    const picture = source
      .clone()
      .autoOrient()
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      // sharp also stops at the time limit, so an abandoned pass does not continue.
      .timeout({ seconds: TIMEOUT_MS / 1_000 });
    for (const mimeType of mimeTypes) {
      signal.throwIfAborted();
      const bytes = await encode(picture.clone(), mimeType).toBuffer();
      if (bytes.byteLength <= IMAGE_LIMITS.bytes) return { mimeType, bytes };
    }
  }
  return undefined;
}

/** JPEG has no transparency, so the image gets a white background. */
function encode(picture: Sharp, mimeType: string): Sharp {
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
