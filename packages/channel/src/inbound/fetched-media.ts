import type { FetchedMedia } from "../contract/definition.ts";
import { ChannelError } from "../contract/errors.ts";
import type { MediaRef } from "../contract/events.ts";

/**
 * Creates the result of `fetchMedia` from an HTTP response. The stream fails with `too_large` after `maxBytes`.
 *
 * @throws ChannelError `too_large` if the `content-length` exceeds `maxBytes`
 */
export function createFetchedMedia(
  { body, headers }: { readonly body: ReadableStream<Uint8Array>; readonly headers: Headers },
  { mimeType, name }: MediaRef,
  maxBytes: number,
): FetchedMedia {
  const length = headers.get("content-length");
  const size = length === null ? undefined : Number(length);
  if (size !== undefined && size > maxBytes) {
    void body.cancel().catch(() => {});
    throw tooLarge(maxBytes);
  }
  return {
    body: limitBody(body, maxBytes),
    mimeType: headers.get("content-type")?.split(";")[0]?.trim() || mimeType,
    size: size !== undefined && size >= 0 ? size : undefined,
    name,
  };
}

/** Makes the stream fail with `too_large` after `maxBytes`. */
function limitBody(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let length = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength;
        if (length > maxBytes) controller.error(tooLarge(maxBytes));
        else controller.enqueue(chunk);
      },
    }),
  );
}

function tooLarge(maxBytes: number): ChannelError {
  return new ChannelError("too_large", `The attachment is larger than ${maxBytes} bytes`);
}
