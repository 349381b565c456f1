import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { FetchError } from "./errors.ts";

/**
 * Reads and decompresses a response body. Stops as soon as the compressed or decompressed size exceeds the limit.
 *
 * @throws FetchError `too_large` or `encoding`, or the error that interrupted the stream
 */
export async function readBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const decompress = createDecompressor(encoding);
  let arrived = 0;
  let failure: unknown;
  // The limit applies to the compressed size as well.
  const count = (chunk: Uint8Array): void => {
    arrived += chunk.byteLength;
    if (arrived > maxBytes) body.destroy(createTooLargeError(maxBytes));
  };
  const source: AsyncIterable<Uint8Array> =
    decompress === undefined
      ? body
      : pipeline(body.on("data", count), decompress, (error) => {
          failure = error;
        });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > maxBytes) throw createTooLargeError(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof FetchError) throw error;
    if (isZlibError(error))
      throw new FetchError("encoding", "The page's compression is broken.", { cause: error });
    throw failure ?? error;
  } finally {
    body.destroy();
    decompress?.destroy();
  }
  return Buffer.concat(chunks, size);
}

function createDecompressor(encoding: string | undefined): Duplex | undefined {
  switch (encoding?.trim().toLowerCase() ?? "identity") {
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      // Several nested compressions could expand a small page without limit.
      throw new FetchError("encoding", "The page uses an unsupported compression.");
  }
}

function createTooLargeError(maxBytes: number): FetchError {
  return new FetchError("too_large", `The page has more than ${maxBytes} bytes.`);
}

function isZlibError(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    /^(Z_|ERR__?(ZLIB|BROTLI|PADDING|FORMAT))/.test(String(error.code))
  );
}
