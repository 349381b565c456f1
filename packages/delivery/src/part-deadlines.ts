import { type Deadline, deadline, type OutboundPart } from "@signalbox/channel";

const PART_MS = 60_000;
/** Longer than channels let an upload take, twice where one kind is refused and another tried. */
const MEDIA_MS = 300_000;
/** After so many failures an attachment no longer holds up what waits behind it. */
const MOST_MEDIA_FAILURES = 5;

/** How long the parts of one message may take, one after the other. */
export interface PartDeadlines {
  /** Fires when the part under way takes too long, and when sending stops. */
  readonly signal: AbortSignal;
  /** The part of that index is sent from now on, with a time of its own. */
  begin(index: number): void;
  /**
   * An attachment has failed in passing.
   * @returns the signal for a line in its place, or undefined where it is to be tried again later
   */
  giveUp(index: number): AbortSignal | undefined;
  /** Releases the timer. */
  end(): void;
}

/** Counts how often the attachments of each row have failed, across its attempts. */
export class MediaFailures {
  readonly #failures = new Map<string, Map<number, number>>();

  /** Counts a failure of the part; whether the attachment is to be given up. */
  add(id: string, index: number): boolean {
    const counts = this.#failures.get(id) ?? new Map<number, number>();
    const count = (counts.get(index) ?? 0) + 1;
    this.#failures.set(id, counts.set(index, count));
    return count >= MOST_MEDIA_FAILURES;
  }

  /** The row has its end. */
  forget(id: string): void {
    this.#failures.delete(id);
  }
}

/** Deadlines for one attempt at a row. `stop` ends them all. */
export function partDeadlines(
  row: { readonly id: string; readonly payload: { readonly parts: readonly OutboundPart[] } },
  failures: MediaFailures,
  stop: AbortSignal,
): PartDeadlines {
  let controller = new AbortController();
  let current: Deadline | undefined;

  const begin = (index: number): void => {
    current?.end();
    const target = controller;
    current = deadline(row.payload.parts[index]?.type === "media" ? MEDIA_MS : PART_MS, stop);
    const { signal } = current;
    if (signal.aborted) target.abort(signal.reason);
    else signal.addEventListener("abort", () => target.abort(signal.reason), { once: true });
  };

  return {
    get signal() {
      return controller.signal;
    },
    begin,
    giveUp(index) {
      if (!failures.add(row.id, index) || stop.aborted) return undefined;
      // The attachment's own time may be up, and the line in its place needs some.
      controller = new AbortController();
      begin(index);
      return controller.signal;
    },
    end: () => current?.end(),
  };
}
