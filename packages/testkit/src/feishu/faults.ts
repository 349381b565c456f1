import type { FaultTarget } from "../faults.ts";

/** A simulated outage. The next requests that match `method` and `path` fail. */
export interface FeishuFault extends FaultTarget {
  /**
   * - `status`: responds with `status` (default 500) without an effect.
   * - `code`: responds with Feishu's error `code` without an effect.
   * - `hang`: carries out the request and never responds.
   * - `cut`: carries out the request and breaks the connection.
   * - `hold`: carries out the request and responds after `until`.
   * - `rate`: responds with 429 with the gateway's rate-limit code; `resetSeconds` goes into its header if given.
   */
  readonly kind: "status" | "code" | "hang" | "cut" | "rate" | "hold";
  readonly until?: Promise<unknown>;
  readonly status?: number;
  readonly code?: number;
  readonly resetSeconds?: number;
}
