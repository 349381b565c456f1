/** A response that ends only when its reader stops. */
export interface EndlessResponse {
  readonly response: Response;
  /** Number of bytes that were read. */
  sentBytes(): number;
}

/** Creates a response without an end, to prove that a channel limits what it reads of a response to a call. */
export function createEndlessResponse(init?: ResponseInit): EndlessResponse {
  const piece = new Uint8Array(1_000_000).fill(0x20);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += piece.byteLength;
      // Ends a reader without a limit before the memory is exhausted.
      if (sent > 50_000_000) return controller.error(new Error("the reader has no limit"));
      controller.enqueue(piece);
    },
  });
  return { response: new Response(body, init), sentBytes: () => sent };
}
