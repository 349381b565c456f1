import { type Deadline, deadline, type OutboundPart } from "@signalbox/channel";

const PART_MS = 60_000;
/**
 * Time limit for an attachment in milliseconds. It is more than twice the longest upload time of a channel (120 s),
 * because a rejected attachment may be sent again as another type.
 */
const MEDIA_MS = 300_000;
/**
 * Maximum number of failures of an attachment. After that, a text replaces it, so that the parts after it can be sent.
 */
const MAX_MEDIA_FAILURES = 5;

/** The deadlines of the parts of one message, one at a time. */
export interface PartDeadlines {
  /** Aborts when the current part takes too long and when sending stops. */
  readonly signal: AbortSignal;
  /** Starts the deadline of the part with this index. */
  begin(index: number): void;
  /**
   * Counts a transient failure of an attachment.
   *
   * @returns the signal for the text that replaces it, or `undefined` if the attachment should be retried later
   */
  giveUp(index: number): AbortSignal | undefined;
  /** Clears the timer. */
  end(): void;
}

/** Counts the failures of the attachments of each row across attempts. */
export class MediaFailures {
  readonly #failures = new Map<string, Map<number, number>>();

  /** Counts a failure. Returns true if no further attempt should be made. */
  add(id: string, index: number): boolean {
    const counts = this.#failures.get(id) ?? new Map<number, number>();
    const count = (counts.get(index) ?? 0) + 1;
    this.#failures.set(id, counts.set(index, count));
    return count >= MAX_MEDIA_FAILURES;
  }

  /** Removes a row that has ended. */
  delete(id: string): void {
    this.#failures.delete(id);
  }
}

/**
 * Creates the deadlines for one attempt at a row.
 *
 * @param stop aborts all of them
 */
export function createPartDeadlines(
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
      // The deadline of the attachment may have passed, so the text gets a new signal and a new deadline.
      controller = new AbortController();
      begin(index);
      return controller.signal;
    },
    end: () => current?.end(),
  };
}
