import { Buffer } from "node:buffer";
import { streamMethods } from "./methods.ts";
import { type Answer, answering, type Peer } from "./peer.ts";

/** Bytes that this end has, for the other one to read. */
export class ByteStreams {
  readonly #readers = new Map<number, ReadableStreamDefaultReader<Uint8Array>>();
  #count = 0;

  /** Gives the number by which the other end reads it. */
  offer(stream: ReadableStream<Uint8Array>): number {
    const id = this.#count++;
    this.#readers.set(id, stream.getReader());
    return id;
  }

  readonly answers: readonly Answer[] = [
    answering(streamMethods.read, async ({ stream }) => {
      const reader = this.#readers.get(stream);
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) this.#readers.delete(stream);
      return value === undefined ? {} : { data: Buffer.from(value).toString("base64") };
    }),
    answering(streamMethods.cancel, async ({ stream }) => {
      const reader = this.#readers.get(stream);
      this.#readers.delete(stream);
      await reader?.cancel();
      return undefined;
    }),
  ];

  /** There is no reader any more. */
  end(): void {
    for (const reader of this.#readers.values()) reader.cancel().catch(() => {});
    this.#readers.clear();
  }
}

/** Bytes that the other end has offered. */
export function readFrom(peer: Peer, stream: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { data } = await peer.call(streamMethods.read, { stream });
        if (data === undefined) controller.close();
        else controller.enqueue(new Uint8Array(Buffer.from(data, "base64")));
      },
      cancel: () => peer.call(streamMethods.cancel, { stream }),
    },
    { highWaterMark: 0 },
  );
}
