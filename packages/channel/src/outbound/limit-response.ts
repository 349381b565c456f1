/** Maximum size of a response to a call, in bytes. Responses from platforms are far smaller. */
export const MAX_RESPONSE_BYTES = 16_000_000;

/**
 * Returns an equal response whose body fails after 16,000,000 bytes, for SDKs that read a response without a limit. Not
 * for downloads, which have their own limits.
 */
export function limitResponse(response: Response): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_RESPONSE_BYTES) controller.error(new Error("the response is too long"));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
