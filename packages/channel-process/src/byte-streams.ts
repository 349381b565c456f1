import type { StreamFunctions } from "./functions.ts";
import type { Rpc } from "./rpc.ts";

/** Streams of this process that the other process reads, one chunk per call. */
export class ByteStreams {
  readonly #readers = new Map<number, ReadableStreamDefaultReader<Uint8Array>>();
  #count = 0;

  /** Returns the number that the other process uses to read the stream. */
  add(stream: ReadableStream<Uint8Array>): number {
    const id = this.#count++;
    this.#readers.set(id, stream.getReader());
    return id;
  }

  async read(id: number): Promise<Uint8Array | undefined> {
    const chunk = await this.#readers.get(id)?.read();
    if (chunk?.value === undefined) this.#readers.delete(id);
    return chunk?.value;
  }

  async cancel(id: number): Promise<void> {
    const reader = this.#readers.get(id);
    this.#readers.delete(id);
    await reader?.cancel();
  }

  cancelAll(): void {
    for (const id of [...this.#readers.keys()]) this.cancel(id).catch(() => {});
  }
}

/**
 * Returns a stream of the other process. It does not read ahead, so a slow reader slows down the source.
 *
 * @param check validates the result of `readStream`
 */
export function readRemote(
  rpc: Rpc<StreamFunctions>,
  id: number,
  check: (chunk: unknown) => Uint8Array<ArrayBuffer> | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const chunk = check(await rpc.call("readStream", id));
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => rpc.call("cancelStream", id),
    },
    { highWaterMark: 0 },
  );
}
