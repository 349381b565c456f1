import type { FetchedMedia } from "../contract/definition.ts";
import { ChannelError } from "../contract/errors.ts";
import type { MediaRef } from "../contract/events.ts";

/**
 * An attachment as a platform's answer gives it.
 *
 * @throws ChannelError `too_large` where the answer says that it is over `maxBytes`, which breaks it off
 */
export function fetchedMedia(
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
    body: boundedBody(body, maxBytes),
    mimeType: headers.get("content-type")?.split(";")[0]?.trim() || mimeType,
    ...(size !== undefined && size >= 0 && { size }),
    ...(name !== undefined && { name }),
  };
}

/** The same bytes, broken off with `too_large` as soon as there are more than `maxBytes`, whatever was announced. */
function boundedBody(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
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
  return new ChannelError("too_large", `The attachment is over ${maxBytes} bytes`);
}
