import type { AttemptFailure, Model, ModelErrorData, NextAttempt, Usage } from "@signalbox/agent-core";
import { withoutUndefined } from "../shared/json.ts";
import type { Key, KeyRing } from "./keys.ts";

/** Determines when and how often a failed request is retried. */
export interface RetryPolicy {
  /**
   * Maximum number of further attempts with the same model after retryable failures, with any of its keys. Default: 2.
   */
  readonly retries: number;
  /** Maximum number of attempts per request, with all keys and models. Default: 24. */
  readonly maxAttempts: number;
  /**
   * Delay in milliseconds before the first retry. It doubles for each further retry and includes jitter. Default: 500.
   */
  readonly baseDelayMs: number;
  /** Maximum delay in milliseconds. Default: 8,000. */
  readonly maxDelayMs: number;
  /** Maximum `retry-after` to wait for, in milliseconds. A longer one counts as a refusal. Default: 30,000. */
  readonly maxRetryAfterMs: number;
  /**
   * Milliseconds without output, including waits, until the request fails. Default: 55,000. A request may set its own
   * limit. Accounts with `timeouts` use those.
   */
  readonly silenceMs: number;
}

export interface Candidate {
  readonly model: Model;
  readonly ring: KeyRing;
  /** True if the account sets its own timeouts. */
  readonly ownTimeouts: boolean;
}

/** A model and the key to try it with. */
export interface Attempt extends Candidate {
  readonly key: Key;
}

export interface Step {
  readonly attempt: Attempt;
  readonly failure: AttemptFailure;
  readonly next: NextAttempt;
}

/** Minimum silence timeout of a further attempt, in milliseconds. */
const MIN_SILENCE_MS = 5_000;
/** Time in milliseconds that is reserved for one further model, and for several. */
const RESERVE_FOR_ONE_MS = 15_000;
const RESERVE_FOR_SEVERAL_MS = 20_000;

/** The models of one request and the keys of their accounts. Decides the next step after each failure. */
export class AttemptPlan {
  readonly #candidates: readonly [Candidate, ...Candidate[]];
  readonly #policy: RetryPolicy;
  readonly #random: () => number;
  #at = 0;
  /** The start of the request, or its last sign of life. */
  #since = 0;
  #retries = 0;
  /** Each key is tried at most once per request. A vendor that sends no delay would otherwise cause a tight loop. */
  readonly #used = new Set<Key>();
  readonly failures: AttemptFailure[] = [];

  constructor(candidates: readonly [Candidate, ...Candidate[]], policy: RetryPolicy, random: () => number) {
    this.#candidates = candidates;
    this.#policy = policy;
    this.#random = random;
  }

  /** Returns the first model with a key that is not in a cooldown. If there is none, returns the first model. */
  first(now: number): Attempt {
    this.#since = now;
    const ready = this.#candidates.findIndex(({ ring }) => ring.ready(now) !== undefined);
    this.#at = Math.max(0, ready);
    const candidate = this.#candidates[this.#at] ?? this.#candidates[0];
    const key = candidate.ring.ready(now) ?? candidate.ring.soonest();
    this.#used.add(key);
    return { ...candidate, key };
  }

  alive(now: number): void {
    this.#since = now;
  }

  #left(now: number): number {
    return this.#policy.silenceMs - (now - this.#since);
  }

  /** Returns the silence timeout of `attempt`, which begins now. `undefined` if the account sets its own timeouts. */
  silenceMs({ model, ownTimeouts }: Attempt, now: number): number | undefined {
    if (ownTimeouts) return undefined;
    const further = this.#candidates.slice(this.#at + 1);
    const others = further.filter((one) => one.model.provider !== model.provider);
    const left = this.#left(now);
    const kept = others.length === 0 ? 0 : others.length === 1 ? RESERVE_FOR_ONE_MS : RESERVE_FOR_SEVERAL_MS;
    return Math.max(MIN_SILENCE_MS, left - Math.min(kept, left / 2));
  }

  /** Records a failure and returns the next step, if any. */
  after(attempt: Attempt, error: ModelErrorData, usage: Usage | undefined, now: number): Step | undefined {
    const { model, ring, key } = attempt;
    if (attempt.ownTimeouts) this.alive(now);
    const failure: AttemptFailure = {
      provider: model.provider,
      model: model.id,
      key: key.name,
      code: error.code,
      message: error.message,
      ...withoutUndefined({ status: error.status, usage }),
    };
    this.failures.push(failure);
    // Only the caller can shorten the history. Another model would get the same history.
    if (error.code === "aborted" || error.code === "overflow") return undefined;
    if (error.scope === "key") ring.rest(key, error.code, error.retryAfterMs, now);
    if (this.failures.length >= this.#policy.maxAttempts) return undefined;
    if (error.scope === "key") {
      const other = ring.ready(now, this.#used);
      if (other !== undefined && this.#left(now) > 0)
        return this.#go({ ...attempt, key: other }, "key", failure, 0);
    }
    // A model that timed out is not retried: the user has waited long enough.
    if (error.retryable && error.code !== "timeout" && this.#retries < this.#policy.retries) {
      let again = attempt;
      let delay = this.#delay(error.retryAfterMs);
      const soonest = ring.soonest();
      // The cooldown of this key is too long, but a key that was refused earlier may be ready sooner.
      if (delay === undefined && error.scope === "key" && soonest.cause === "rate_limit") {
        again = { ...attempt, key: soonest };
        delay = this.#delay(Math.max(0, soonest.restsUntil - now));
      }
      if (delay !== undefined && delay + MIN_SILENCE_MS <= this.#left(now)) {
        this.#retries++;
        return this.#go(again, "retry", failure, delay);
      }
    }
    return this.#nextModel(error.scope === "provider" ? model.provider : undefined, failure, now);
  }

  #nextModel(without: string | undefined, failure: AttemptFailure, now: number): Step | undefined {
    if (this.#left(now) <= 0) return undefined;
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

  #go(attempt: Attempt, kind: NextAttempt["kind"], failure: AttemptFailure, delayMs: number): Step {
    const { provider, id } = attempt.model;
    this.#used.add(attempt.key);
    return { attempt, failure, next: { kind, provider, model: id, delayMs } };
  }

  /** Half of the delay is random, so that many clients do not retry at the same time. */
  #delay(retryAfterMs: number | undefined): number | undefined {
    const { baseDelayMs, maxDelayMs, maxRetryAfterMs } = this.#policy;
    const backoff = Math.min(maxDelayMs, baseDelayMs * 2 ** this.#retries);
    const jittered = Math.round(backoff / 2 + (backoff / 2) * this.#random());
    if (retryAfterMs === undefined) return jittered;
    if (retryAfterMs > maxRetryAfterMs) return undefined;
    return Math.max(retryAfterMs, jittered);
  }
}
