/** How many bytes of what comes in may be in memory at a time, in the whole process. */
export interface ByteBudget {
  /** One file's share. Files are finished in the order in which they entered. */
  enter(): ByteShare;
}

export interface ByteShare {
  /**
   * Resolves when `bytes` more fit, and counts them. The first of those still reading is let through in any case, so
   * that files which wait for each other come to an end.
   * @throws what the signal was aborted with
   */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  /** Some of them are free again. */
  give(bytes: number): void;
  /** Takes no more: the next one is the first. */
  done(): void;
  /** All of them are free again, and no more are taken. */
  leave(): void;
}

interface Wanted {
  readonly share: ByteShare;
  readonly bytes: number;
  readonly go: () => void;
}

export function createByteBudget(most: number): ByteBudget {
  let total = 0;
  const reading = new Set<ByteShare>();
  const waiting = new Set<Wanted>();

  const fits = (share: ByteShare, bytes: number): boolean => {
    const [first] = reading;
    return first === share || total + bytes <= most;
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
            waiting.delete(wanted);
            signal.removeEventListener("abort", onAbort);
          };
          const wanted: Wanted = {
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
          waiting.add(wanted);
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
