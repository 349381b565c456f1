/** Converts a response with bytes to one of the daemon, which contains them as base64 in JSON. */
export function encodedResponse({ body, headers, status }: Response): Response {
  if (status !== 200) return new Response(null, { status, headers });
  const start = '{"jsonrpc":"2.0","result":{"data":"';
  const length = headers.get("content-length");
  const encoder = new TextEncoder();
  let rest: Uint8Array<ArrayBufferLike> = new Uint8Array();
  const encoded = body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(start)),
      transform(chunk, controller) {
        const bytes = Buffer.concat([rest, chunk]);
        const end = bytes.length - (bytes.length % 3);
        rest = bytes.subarray(end);
        controller.enqueue(encoder.encode(bytes.subarray(0, end).toString("base64")));
      },
      flush: (controller) =>
        controller.enqueue(encoder.encode(`${Buffer.from(rest).toString("base64")}"},"id":1}`)),
    }),
  );
  return new Response(encoded ?? null, {
    headers: length === null ? {} : { "content-length": String(Math.ceil(Number(length) / 3) * 4 + 100_000) },
  });
}
