import { ChannelError } from "../contract/errors.ts";

/** The same bytes, broken off with `too_large` as soon as there are more than `maxBytes`, whatever was announced. */
export function boundedBody(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let length = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength;
        if (length > maxBytes)
          controller.error(new ChannelError("too_large", `The attachment is over ${maxBytes} bytes`));
        else controller.enqueue(chunk);
      },
    }),
  );
}
