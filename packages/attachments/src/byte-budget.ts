/** Limits the number of bytes of incoming files in memory, for the whole process. */
export interface ByteBudget {
  /** Creates the share of a file. Files that entered earlier get room first. */
  enter(): ByteShare;
}

export interface ByteShare {
  /**
   * Waits until `bytes` more fit, and reserves them. The first file that is still being read never waits, which
   * prevents a deadlock between files that wait for each other.
   *
   * @throws the reason of the signal
   */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  /** Frees some bytes. */
  give(bytes: number): void;
  /** Ends reading and keeps the bytes reserved. The next file becomes the first. */
  done(): void;
  /** Ends reading and frees all bytes. */
  leave(): void;
}

interface Waiting {
  readonly share: ByteShare;
  readonly bytes: number;
  readonly go: () => void;
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let total = 0;
  const reading = new Set<ByteShare>();
  const waiting = new Set<Waiting>();

  const fits = (share: ByteShare, bytes: number): boolean => {
    const [first] = reading;
    return first === share || total + bytes <= maxBytes;
  };
  const wake = (): void => {
    for (const waiter of waiting) if (fits(waiter.share, waiter.bytes)) waiter.go();
  };

  return {
    enter() {
      let held = 0;
      const count = (bytes: number): void => {
        held += bytes;
        total += bytes;
      };
      const share: ByteShare = {
        async take(bytes, signal) {
          signal.throwIfAborted();
          if (fits(share, bytes)) return count(bytes);
          const turn = Promise.withResolvers<void>();
          const end = (): void => {
            waiting.delete(entry);
            signal.removeEventListener("abort", onAbort);
          };
          const entry: Waiting = {
            share,
            bytes,
            go() {
              end();
              count(bytes);
              turn.resolve();
            },
          };
          const onAbort = (): void => {
            end();
            turn.reject(signal.reason);
          };
          waiting.add(entry);
          signal.addEventListener("abort", onAbort, { once: true });
          return turn.promise;
        },
        give(bytes) {
          count(-bytes);
          wake();
        },
        done() {
          reading.delete(share);
          wake();
        },
        leave() {
          reading.delete(share);
          count(-held);
          wake();
        },
      };
      reading.add(share);
      return share;
    },
  };
}
