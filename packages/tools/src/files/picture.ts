import {
  type ImageInfo,
  imageInfo,
  isTakenPicture,
  PICTURE_LIMITS,
  type ToolResult,
} from "@signalbox/agent-core";
import { failure } from "../result.ts";
import { type OpenFile, readWhole } from "../workspace/open-file.ts";
import { count, SAMPLE_BYTES } from "./text.ts";

/** Makes a picture that is larger than models take smaller; undefined for one that is not, or cannot be. */
export type FitPicture = (
  bytes: Uint8Array,
  size: Pick<ImageInfo, "width" | "height">,
  signal: AbortSignal,
) => Promise<{ readonly mimeType: string; readonly bytes: Uint8Array } | undefined>;

/** Of a file that is read to be made smaller. */
const MAX_SOURCE_BYTES = 25_000_000;

/** Enough of a file to tell what it is. */
export async function readStart(file: OpenFile): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.min(SAMPLE_BYTES, file.size));
  const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
  return buffer.subarray(0, bytesRead);
}

/** A file that is a picture, as a model takes it; a failure where it is none, or larger than models take. */
export async function readPicture(
  file: OpenFile,
  fitPicture: FitPicture | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const refused = (what: string): ToolResult => failure(`${file.displayPath} ${what}`, { bytes: file.size });
  if (file.size > MAX_SOURCE_BYTES) return refused(tooManyBytes(file));
  // Not its start alone: what cameras and programs note may stand before the size.
  const bytes = await readWhole(file);
  const image = imageInfo(bytes);
  if (image === undefined) return refused("is no picture that can be looked at.");
  const fitted = await fitPicture?.(bytes, image, signal);
  if (fitted !== undefined) return shown(fitted.mimeType, fitted.bytes);
  return isTakenPicture(image, bytes.byteLength)
    ? shown(image.mimeType, bytes)
    : refused(tooLarge(file, image));
}

function tooLarge(file: OpenFile, { width = 0, height = 0 }: ImageInfo): string {
  if (file.size > PICTURE_LIMITS.bytes) return tooManyBytes(file);
  if (width * height === 0) return "does not say how many pixels it has. Convert it and read the copy.";
  return `has ${count(width)} × ${count(height)} pixels, more than can be shown. Make a smaller copy and read that.`;
}

function tooManyBytes({ size }: OpenFile): string {
  return `is an image of ${count(size)} bytes; at most ${count(PICTURE_LIMITS.bytes)} can be shown. Make a smaller copy and read that.`;
}

function shown(mimeType: string, bytes: Uint8Array): ToolResult {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return {
    content: [{ type: "image", mimeType, source: { kind: "base64", data } }],
    details: { mimeType, bytes: bytes.byteLength },
  };
}
