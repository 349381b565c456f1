import type { FaultTarget } from "../faults.ts";

/** An outage to act out: the next requests that match `method` and `path` go wrong. */
export interface FeishuFault extends FaultTarget {
  /**
   * - `status`: answers `status` (default 500) and does nothing.
   * - `code`: answers Feishu's error `code` and does nothing.
   * - `hang`: does what was asked and never answers.
   * - `cut`: does what was asked and breaks the connection.
   * - `hold`: does what was asked and answers after `until`.
   * - `rate`: answers 429 with the gateway's rate-limit code; `resetSeconds` goes into its header where given.
   */
  readonly kind: "status" | "code" | "hang" | "cut" | "rate" | "hold";
  readonly until?: Promise<unknown>;
  readonly status?: number;
  readonly code?: number;
  readonly resetSeconds?: number;
}
