import type { ToolResult } from "@signalbox/agent-core";
import { failure } from "../result.ts";
import { type OpenFile, readWhole } from "../workspace/open-file.ts";
import type { ImageInfo } from "./images.ts";
import { count, SAMPLE_BYTES } from "./text.ts";

/** Makes a picture that is larger than models take smaller; undefined for one that is not, or cannot be. */
export type FitPicture = (
  bytes: Uint8Array,
  size: Pick<ImageInfo, "width" | "height">,
) => Promise<{ readonly mimeType: string; readonly bytes: Uint8Array } | undefined>;

export interface PictureOptions {
  /** Bytes of one that is shown. */
  readonly maxBytes?: number;
  /** Default: none is made smaller. */
  readonly fitPicture?: FitPicture | undefined;
}

/** Of a file that is read to be made smaller. */
const MAX_SOURCE_BYTES = 25_000_000;
/** 5 MB as base64. */
const MAX_PICTURE_BYTES = 3_750_000;
const MAX_PIXELS = 50_000_000;
/** Anthropic refuses a whole request for one picture with a longer side. */
const MAX_SIDE = 8_000;

/** Enough of a file to tell what it is. */
export async function readStart(file: OpenFile): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.min(SAMPLE_BYTES, file.size));
  const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
  return buffer.subarray(0, bytesRead);
}

/** A file that is a picture, as a model takes it; a failure where it is larger than models do. */
export async function readPicture(
  file: OpenFile,
  image: ImageInfo,
  { maxBytes = MAX_PICTURE_BYTES, fitPicture }: PictureOptions,
): Promise<ToolResult> {
  const { width = 0, height = 0 } = image;
  const tooManyPixels = (): ToolResult => {
    const text = `${file.displayPath} has ${count(width)} × ${count(height)} pixels, more than can be shown. Make a smaller copy and read that.`;
    return failure(text, { bytes: file.size });
  };
  if (width * height > MAX_PIXELS) return tooManyPixels();
  if (fitPicture !== undefined && file.size <= MAX_SOURCE_BYTES) {
    const fitted = await fitPicture(await readWhole(file), image);
    if (fitted !== undefined) return shown(fitted.mimeType, fitted.bytes);
  }
  if (Math.max(width, height) > MAX_SIDE) return tooManyPixels();
  if (file.size > maxBytes) {
    const text = `${file.displayPath} is an image of ${count(file.size)} bytes; at most ${count(maxBytes)} can be shown. Make a smaller copy and read that.`;
    return failure(text, { bytes: file.size });
  }
  return shown(image.mimeType, await readWhole(file));
}

function shown(mimeType: string, bytes: Uint8Array): ToolResult {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return {
    content: [{ type: "image", mimeType, source: { kind: "base64", data } }],
    details: { mimeType, bytes: bytes.byteLength },
  };
}
