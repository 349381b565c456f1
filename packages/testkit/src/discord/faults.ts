import type { FaultTarget } from "../faults.ts";

/** An outage to act out: the next requests that match `method` and `path` go wrong. */
export interface DiscordFault extends FaultTarget {
  /**
   * - `status`: answers `status` (default 500) and does nothing.
   * - `rate`: answers 429, with `seconds` where given.
   * - `hang`: does what was asked and never answers.
   * - `cut`: does what was asked and breaks the connection.
   * - `hold`: does what was asked and answers after `until`.
   */
  readonly kind: "status" | "rate" | "hang" | "cut" | "hold";
  readonly until?: Promise<unknown>;
  readonly status?: number;
  readonly seconds?: number;
}
