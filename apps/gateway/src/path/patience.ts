import { type Deadline, deadline, type OutboundPart } from "@signalbox/channel";
import type { OutboxId } from "@signalbox/store";

/** How long the parts of one reply may take, one after the other. */
export interface PartLimit {
  /** Fires when the part under way takes too long, and when sending stops. */
  readonly signal: AbortSignal;
  /** The part of that index is sent from now on, with a time of its own. */
  begin(index: number): void;
  /**
   * An attachment has failed in passing.
   * @returns the signal for a line in its place, or undefined where it is to be tried again later
   */
  giveUp(index: number): AbortSignal | undefined;
  /** Lets go of the timer. */
  end(): void;
}

/** How much is tried before an attachment no longer holds up what waits behind it. */
export interface Patience {
  limit(
    row: { readonly id: OutboxId; readonly payload: { readonly parts: readonly OutboundPart[] } },
    stop: AbortSignal,
  ): PartLimit;
  /** The row has its end. */
  forget(id: OutboxId): void;
}

const PART_MS = 60_000;
/** Longer than channels let an upload take, twice where one kind is refused and another tried. */
const MEDIA_MS = 300_000;
const MOST_FAILURES = 5;

export function createPatience(): Patience {
  const failures = new Map<OutboxId, Map<number, number>>();
  return {
    limit({ id, payload }, stop) {
      let controller = new AbortController();
      let part: Deadline | undefined;
      const begin = (index: number): void => {
        part?.end();
        const mine = controller;
        const { signal, end } = deadline(payload.parts[index]?.type === "media" ? MEDIA_MS : PART_MS, stop);
        part = { signal, end };
        if (signal.aborted) mine.abort(signal.reason);
        else signal.addEventListener("abort", () => mine.abort(signal.reason), { once: true });
      };
      return {
        get signal() {
          return controller.signal;
        },
        begin,
        giveUp(index) {
          const counts = failures.get(id) ?? new Map<number, number>();
          const count = (counts.get(index) ?? 0) + 1;
          failures.set(id, counts.set(index, count));
          if (count < MOST_FAILURES || stop.aborted) return undefined;
          // The time of the attachment may be up.
          controller = new AbortController();
          begin(index);
          return controller.signal;
        },
        end: () => part?.end(),
      };
    },
    forget: (id) => void failures.delete(id),
  };
}
