import type { ToolResult } from "@signalbox/agent-core";
import { failure } from "../result.ts";
import type { OpenFile } from "../workspace/workspace.ts";
import type { ImageInfo } from "./images.ts";
import { count, SAMPLE_BYTES } from "./text.ts";

/** 5 MB as base64. */
export const MAX_PICTURE_BYTES = 3_750_000;
const MAX_PIXELS = 50_000_000;

/** Enough of a file to tell what it is. */
export async function readStart(file: OpenFile): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.min(SAMPLE_BYTES, file.size));
  const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
  return buffer.subarray(0, bytesRead);
}

/** A file that is a picture, as a model takes it; a failure where it is larger than models do. */
export async function readPicture(file: OpenFile, image: ImageInfo, maxBytes: number): Promise<ToolResult> {
  if (file.size > maxBytes) {
    const text = `${file.displayPath} is an image of ${count(file.size)} bytes; at most ${count(maxBytes)} can be shown. Make a smaller copy and read that.`;
    return failure(text, { bytes: file.size });
  }
  const { width = 0, height = 0 } = image;
  if (width * height > MAX_PIXELS) {
    const text = `${file.displayPath} has ${count(width)} × ${count(height)} pixels, more than can be shown. Make a smaller copy and read that.`;
    return failure(text, { bytes: file.size });
  }
  const bytes = new Uint8Array(file.size);
  const { bytesRead } = await file.handle.read(bytes, 0, bytes.length, 0);
  const data = Buffer.from(bytes.buffer, 0, bytesRead).toString("base64");
  return {
    content: [{ type: "image", mimeType: image.mimeType, source: { kind: "base64", data } }],
    details: { mimeType: image.mimeType, bytes: bytesRead },
  };
}
