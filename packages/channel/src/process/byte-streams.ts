import { Buffer } from "node:buffer";
import { type Handler, handling, type Line } from "./line.ts";
import { streamMethods } from "./methods.ts";

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

  readonly handlers: readonly Handler[] = [
    handling(streamMethods.read, async ({ stream }) => {
      const reader = this.#readers.get(stream);
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) this.#readers.delete(stream);
      return value === undefined ? {} : { data: Buffer.from(value).toString("base64") };
    }),
    handling(streamMethods.cancel, async ({ stream }) => {
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
export function readFrom(line: Line, stream: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { data } = await line.call(streamMethods.read, { stream });
        if (data === undefined) controller.close();
        else controller.enqueue(new Uint8Array(Buffer.from(data, "base64")));
      },
      cancel: () => line.call(streamMethods.cancel, { stream }),
    },
    { highWaterMark: 0 },
  );
}
