import type { ByteShare } from "./byte-budget.ts";

export interface BodyOptions {
  /** Maximum length in bytes. */
  readonly limit: number;
  /** Expected length in bytes, as the platform reports it. Avoids copies. */
  readonly size: number | undefined;
  /** The budget that the bytes count against, even after reading. */
  readonly share: ByteShare;
  readonly signal: AbortSignal;
}

const MIN_BUFFER_BYTES = 65_536;

/**
 * Reads a body, waiting for room in the byte budget.
 *
 * @returns `undefined` if the body is longer than `limit`
 */
export async function readBody(
  body: ReadableStream<Uint8Array>,
  { limit, size, share, signal }: BodyOptions,
): Promise<Buffer | undefined> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  let room = Buffer.alloc(0);
  const resize = async (bytes: number, used: number): Promise<void> => {
    await share.take(bytes, signal);
    const other = Buffer.allocUnsafeSlow(bytes);
    room.copy(other, 0, 0, used);
    share.give(room.byteLength);
    room = other;
  };
  try {
    signal.throwIfAborted();
    let used = 0;
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      const end = used + value.byteLength;
      if (end > limit) {
        stop();
        return undefined;
      }
      if (end > room.byteLength) {
        const wanted = used === 0 ? (size ?? MIN_BUFFER_BYTES) : room.byteLength * 2;
        await resize(Math.min(limit, Math.max(end, wanted)), used);
      }
      room.set(value, used);
      used = end;
    }
    // The expected length was much too large.
    if (used < room.byteLength / 2) await resize(used, used);
    return room.subarray(0, used);
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
