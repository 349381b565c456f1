import type { FaultTarget } from "../faults.ts";

/** A simulated outage. The next requests that match `method` and `path` fail. */
export interface DiscordFault extends FaultTarget {
  /**
   * - `status`: responds with `status` (default 500) without an effect.
   * - `rate`: responds with 429, and with `seconds` if given.
   * - `hang`: carries out the request and never responds.
   * - `cut`: carries out the request and breaks the connection.
   * - `hold`: carries out the request and responds after `until`.
   */
  readonly kind: "status" | "rate" | "hang" | "cut" | "hold";
  readonly until?: Promise<unknown>;
  readonly status?: number;
  readonly seconds?: number;
}
