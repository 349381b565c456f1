import type { Usage } from "./usage.ts";

export type ModelErrorCode =
  | "auth"
  | "billing"
  | "rate_limit"
  | "overloaded"
  | "overflow"
  | "invalid"
  | "filter"
  | "network"
  | "timeout"
  | "aborted"
  | "protocol"
  /** The caller's own spending limit is reached. No request was sent. */
  | "budget";

/** The error of a request, with the data that a retry policy needs. */
export interface ModelErrorData {
  readonly code: ModelErrorCode;
  readonly message: string;
  readonly status?: number;
  /** Window of the model that would have answered, if it is smaller than the window of the requested model. */
  readonly contextWindow?: number;
  /** Delay requested by the vendor, in milliseconds. */
  readonly retryAfterMs?: number;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** True if text or thinking had been delivered before the failure. */
  readonly emitted: boolean;
  /** The component to change for another attempt: the key, the model or the provider. */
  readonly scope: "key" | "model" | "provider";
  readonly requestId?: string;
  /** The failed attempts, if there were several. */
  readonly attempts?: readonly AttemptFailure[];
}

/** A failed attempt of a request with retries and fallbacks. */
export interface AttemptFailure {
  readonly provider: string;
  readonly model: string;
  /** Name of the key without its value, for instance `anthropic#2`. */
  readonly key?: string;
  readonly code: ModelErrorCode;
  readonly message: string;
  readonly status?: number;
  /** Usage before the failure. It counts toward the run. */
  readonly usage?: Usage;
}
