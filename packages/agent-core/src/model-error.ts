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
  /** The caller's own limit on what may be spent is reached: the vendor was not asked. */
  | "budget";

/** What went wrong with a request, in terms a retry policy can decide on. */
export interface ModelErrorData {
  readonly code: ModelErrorCode;
  readonly message: string;
  readonly status?: number;
  /** The window of the model that would have answered, if it is smaller than that of the model asked for. */
  readonly contextWindow?: number;
  /** The wait that the vendor asked for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Whether text or thinking had already been delivered when it failed. */
  readonly emitted: boolean;
  /** What to change for another attempt: the key, the model or the provider. */
  readonly scope: "key" | "model" | "provider";
  readonly requestId?: string;
  /** What each attempt said, when several were made. */
  readonly attempts?: readonly AttemptFailure[];
}

/** One failed attempt inside a request with retries and fallbacks. */
export interface AttemptFailure {
  readonly provider: string;
  readonly model: string;
  /** Names the key without revealing it, for instance `anthropic#2`. */
  readonly key?: string;
  readonly code: ModelErrorCode;
  readonly message: string;
  readonly status?: number;
  /** Its usage before it failed, which is part of the run's. */
  readonly usage?: Usage;
}
