import type { AttemptFailure, Model, ModelErrorData, NextAttempt } from "@signalbox/agent-core";
import type { Key, KeyRing } from "./keys.ts";

/** When and how often a failed request is made again. */
export interface RetryPolicy {
  /** Further attempts at the same model after passing failures; default 2. */
  readonly retries: number;
  /** Milliseconds before the first retry, doubled for each further one, with jitter; default 500. */
  readonly baseDelayMs: number;
  /** Milliseconds; default 8,000. */
  readonly maxDelayMs: number;
  /** The longest `retry-after` that is waited for; a longer one counts as a refusal. Default 30,000. */
  readonly maxRetryAfterMs: number;
}

/** What to try next, and how to get there. */
export interface Attempt {
  readonly model: Model;
  readonly ring: KeyRing;
  readonly key: Key;
}

/** The models of one request and the rings of their accounts, walked as failures come. */
export class AttemptPlan {
  readonly #candidates: readonly { readonly model: Model; readonly ring: KeyRing }[];
  readonly #policy: RetryPolicy;
  readonly #random: () => number;
  #at = 0;
  #retries = 0;
  readonly failures: AttemptFailure[] = [];

  constructor(
    candidates: readonly { readonly model: Model; readonly ring: KeyRing }[],
    policy: RetryPolicy,
    random: () => number,
  ) {
    this.#candidates = candidates;
    this.#policy = policy;
    this.#random = random;
  }

  /** The first attempt: the first model with a key that does not rest; else the first model, rest or not. */
  first(now: number): Attempt | undefined {
    const at = this.#candidates.findIndex(({ ring }) => ring.ready(now) !== undefined);
    this.#at = Math.max(0, at);
    return this.#attempt(now);
  }

  #attempt(now: number): Attempt | undefined {
    const candidate = this.#candidates[this.#at];
    const key = candidate?.ring.ready(now) ?? candidate?.ring.soonest();
    return candidate === undefined || key === undefined ? undefined : { ...candidate, key };
  }

  /** Takes note of a failure and says what follows, or `undefined` where nothing does. */
  after(
    attempt: Attempt,
    error: ModelErrorData,
    now: number,
  ): { readonly attempt: Attempt; readonly failure: AttemptFailure; readonly next: NextAttempt } | undefined {
    const { model, ring, key } = attempt;
    const failure: AttemptFailure = {
      provider: model.provider,
      model: model.id,
      key: key.name,
      code: error.code,
      message: error.message,
      ...(error.status === undefined ? {} : { status: error.status }),
    };
    this.failures.push(failure);
    // An overflow is the caller's to mend: another model would only be given the same history.
    if (error.code === "aborted" || error.code === "overflow" || error.emitted) return undefined;
    if (error.scope === "key") {
      ring.rest(key, error.code, error.retryAfterMs, now);
      const other = ring.ready(now);
      if (other !== undefined) {
        this.#retries = 0;
        return this.#go({ model, ring, key: other }, "key", failure, 0);
      }
    }
    // A model that said nothing for so long is not asked again: the person has waited long enough.
    if (error.retryable && error.code !== "timeout" && this.#retries < this.#policy.retries) {
      const delay = this.#delay(error.retryAfterMs);
      if (delay !== undefined) {
        this.#retries++;
        return this.#go(attempt, "retry", failure, delay);
      }
    }
    return this.#nextModel(error.scope === "provider" ? model.provider : undefined, failure, now);
  }

  #nextModel(
    without: string | undefined,
    failure: AttemptFailure,
    now: number,
  ): ReturnType<AttemptPlan["after"]> {
    for (this.#at++; this.#at < this.#candidates.length; this.#at++) {
      const candidate = this.#candidates[this.#at];
      if (candidate === undefined || candidate.model.provider === without) continue;
      const key = candidate.ring.ready(now);
      if (key === undefined) continue;
      this.#retries = 0;
      return this.#go({ ...candidate, key }, "model", failure, 0);
    }
    return undefined;
  }

  #go(
    attempt: Attempt,
    kind: NextAttempt["kind"],
    failure: AttemptFailure,
    delayMs: number,
  ): ReturnType<AttemptPlan["after"]> {
    const { provider, id } = attempt.model;
    return { attempt, failure, next: { kind, provider, model: id, delayMs } };
  }

  /** Half of the delay is fixed, half is chance, so that many clients do not come back at once. */
  #delay(retryAfterMs: number | undefined): number | undefined {
    const { baseDelayMs, maxDelayMs, maxRetryAfterMs } = this.#policy;
    const backoff = Math.min(maxDelayMs, baseDelayMs * 2 ** this.#retries);
    const jittered = Math.round(backoff / 2 + (backoff / 2) * this.#random());
    if (retryAfterMs === undefined) return jittered;
    if (retryAfterMs > maxRetryAfterMs) return undefined;
    return Math.max(retryAfterMs, jittered);
  }
}
