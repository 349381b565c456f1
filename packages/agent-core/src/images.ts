/** Format and size of an image, read from its bytes. */
export interface ImageInfo {
  readonly mimeType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** In pixels; absent if the bytes do not contain it. */
  readonly width?: number;
  readonly height?: number;
}

/** Image limits that work for every vendor. */
export const IMAGE_LIMITS = {
  /** 5 MB as base64. */
  bytes: 3_750_000,
  /** Pixels of the longer side. Anthropic rejects the whole request if one image is larger. */
  side: 8_000,
  /** Pixels of the longer side if the request contains more than `few` images. */
  sideAmongMany: 2_000,
  few: 20,
  /** Maximum total pixels. A small file can decompress to a huge image. */
  pixels: 50_000_000,
} as const;

/** Returns true if vendors accept an image unchanged. An image without a readable size may be too large. */
export function isAcceptedImage({ width = 0, height = 0 }: Size, byteLength: number): boolean {
  const { bytes, side, pixels } = IMAGE_LIMITS;
  const area = width * height;
  return byteLength <= bytes && area > 0 && area <= pixels && Math.max(width, height) <= side;
}

/** Detects the image formats that models accept. Reads the content and ignores the file name. */
export function readImageInfo(bytes: Uint8Array): ImageInfo | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) {
    if (bytes.length < 24) return { mimeType: "image/png" };
    return { mimeType: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (/^GIF8[79]/.test(start)) {
    if (bytes.length < 10) return { mimeType: "image/gif" };
    return { mimeType: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  if (start.startsWith("\xff\xd8\xff")) return { mimeType: "image/jpeg", ...jpegSize(view) };
  if (/^RIFF.{4}WEBP/s.test(start)) return { mimeType: "image/webp", ...webpSize(start.slice(12), view) };
  return undefined;
}

type Size = Pick<ImageInfo, "width" | "height">;

/** ITU T.81: the file consists of segments with lengths. The start-of-frame segment contains height and width. */
function jpegSize(view: DataView): Size | undefined {
  for (let at = 2; at + 9 < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Reads the size from any of the three chunk types of the WebP container. */
function webpSize(chunk: string, view: DataView): Size | undefined {
  if (view.byteLength < 30) return undefined;
  switch (chunk) {
    case "VP8X":
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    case "VP8 ":
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
