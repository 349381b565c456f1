import {
  IMAGE_LIMITS,
  type ImageInfo,
  isAcceptedImage,
  readImageInfo,
  type ToolResult,
} from "@signalbox/agent-core";
import { failure } from "../result.ts";
import { type OpenFile, readWhole } from "../workspace/open-file.ts";
import { formatCount, SAMPLE_BYTES } from "./text.ts";

/**
 * Resizes an image that is larger than models accept. Resolves with undefined if the image is small enough or cannot be
 * resized.
 */
export type FitImage = (
  bytes: Uint8Array,
  size: Pick<ImageInfo, "width" | "height">,
  signal: AbortSignal,
) => Promise<{ readonly mimeType: string; readonly bytes: Uint8Array } | undefined>;

/** Maximum size of an image that is read in order to resize it, in bytes. */
const MAX_SOURCE_BYTES = 25_000_000;

/** Reads the first bytes of a file, which are enough to detect its type. */
export async function readStart(file: OpenFile): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.min(SAMPLE_BYTES, file.size));
  const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
  return buffer.subarray(0, bytesRead);
}

/** Reads an image for a model. Returns a failure if the file is not an image or is too large for models. */
export async function readImage(
  file: OpenFile,
  fitImage: FitImage | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const refuse = (problem: string): ToolResult =>
    failure(`${file.displayPath} ${problem}`, { bytes: file.size });
  if (file.size > MAX_SOURCE_BYTES) return refuse(describeBytes(file));
  // Cameras and programs may write long metadata before the dimensions, so the whole file is read.
  const bytes = await readWhole(file);
  const image = readImageInfo(bytes);
  if (image === undefined) return refuse("is not an image in a supported format.");
  const fitted = await fitImage?.(bytes, image, signal);
  if (fitted !== undefined) return toResult(fitted.mimeType, fitted.bytes);
  return isAcceptedImage(image, bytes.byteLength)
    ? toResult(image.mimeType, bytes)
    : refuse(describeSize(file, image));
}

function describeSize(file: OpenFile, { width = 0, height = 0 }: ImageInfo): string {
  if (file.size > IMAGE_LIMITS.bytes) return describeBytes(file);
  if (width * height === 0) return "has no dimensions in its header. Convert it and read the copy.";
  return `has ${formatCount(width)} × ${formatCount(height)} pixels, more than can be shown. Make a smaller copy and read that.`;
}

function describeBytes({ size }: OpenFile): string {
  return `is an image of ${formatCount(size)} bytes; at most ${formatCount(IMAGE_LIMITS.bytes)} can be shown. Make a smaller copy and read that.`;
}

function toResult(mimeType: string, bytes: Uint8Array): ToolResult {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return {
    content: [{ type: "image", mimeType, source: { kind: "base64", data } }],
    details: { mimeType, bytes: bytes.byteLength },
  };
}
