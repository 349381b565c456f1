import type { AttemptFailure, Model, ModelErrorData, NextAttempt, Usage } from "@signalbox/agent-core";
import { stated } from "../shared/json.ts";
import type { Key, KeyRing } from "./keys.ts";

/** When and how often a failed request is made again. */
export interface RetryPolicy {
  /** Further attempts at the same model after passing failures, whichever its keys; default 2. */
  readonly retries: number;
  /** Attempts of one request in all, over every key and model; default 24. */
  readonly maxAttempts: number;
  /** Milliseconds before the first retry, doubled for each further one, with jitter; default 500. */
  readonly baseDelayMs: number;
  /** Milliseconds; default 8,000. */
  readonly maxDelayMs: number;
  /** The longest `retry-after` that is waited for; a longer one counts as a refusal. Default 30,000. */
  readonly maxRetryAfterMs: number;
  /**
   * Milliseconds of a request without any output, waits and silent models included, before the caller is told; default
   * 55,000. A request may set its own; accounts with `timeouts` of their own use those.
   */
  readonly silenceMs: number;
}

export interface Candidate {
  readonly model: Model;
  readonly ring: KeyRing;
  /** Its account states how long it may be silent. */
  readonly ownTimeouts: boolean;
}

/** What to try next, and how to get there. */
export interface Attempt extends Candidate {
  readonly key: Key;
}

export interface Step {
  readonly attempt: Attempt;
  readonly failure: AttemptFailure;
  readonly next: NextAttempt;
}

/** The least silence allowed to a further attempt, however little of that time is left. */
const LEAST_MS = 5_000;
/** How much of that time is reserved for one other model, and for several. */
const FOR_ONE_MS = 15_000;
const FOR_MORE_MS = 20_000;

/** The models of one request and the rings of their accounts, walked as failures come. */
export class AttemptPlan {
  readonly #candidates: readonly [Candidate, ...Candidate[]];
  readonly #policy: RetryPolicy;
  readonly #random: () => number;
  #at = 0;
  /** When the request began, or its last sign of life. */
  #since = 0;
  #retries = 0;
  /** Each key is gone on to once: where a vendor asks for no wait at all, it would be ready again at once. */
  readonly #used = new Set<Key>();
  readonly failures: AttemptFailure[] = [];

  constructor(candidates: readonly [Candidate, ...Candidate[]], policy: RetryPolicy, random: () => number) {
    this.#candidates = candidates;
    this.#policy = policy;
    this.#random = random;
  }

  /** The first attempt: the first model with a key that does not rest; else the first model, rest or not. */
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

  /** How long `attempt`, which begins now, may be silent; `undefined` leaves it to its account. */
  silenceMs({ model, ownTimeouts }: Attempt, now: number): number | undefined {
    if (ownTimeouts) return undefined;
    const further = this.#candidates.slice(this.#at + 1);
    const others = further.filter((one) => one.model.provider !== model.provider);
    const left = this.#left(now);
    const kept = others.length === 0 ? 0 : others.length === 1 ? FOR_ONE_MS : FOR_MORE_MS;
    return Math.max(LEAST_MS, left - Math.min(kept, left / 2));
  }

  /** Takes note of a failure and says what follows, or `undefined` where nothing does. */
  after(attempt: Attempt, error: ModelErrorData, usage: Usage | undefined, now: number): Step | undefined {
    const { model, ring, key } = attempt;
    if (attempt.ownTimeouts) this.alive(now);
    const failure: AttemptFailure = {
      provider: model.provider,
      model: model.id,
      key: key.name,
      code: error.code,
      message: error.message,
      ...stated({ status: error.status, usage }),
    };
    this.failures.push(failure);
    // An overflow is the caller's to mend: another model would only be given the same history.
    if (error.code === "aborted" || error.code === "overflow") return undefined;
    if (error.scope === "key") ring.rest(key, error.code, error.retryAfterMs, now);
    if (this.failures.length >= this.#policy.maxAttempts) return undefined;
    if (error.scope === "key") {
      const other = ring.ready(now, this.#used);
      if (other !== undefined && this.#left(now) > 0)
        return this.#go({ ...attempt, key: other }, "key", failure, 0);
    }
    // A model that said nothing for so long is not asked again: the person has waited long enough.
    if (error.retryable && error.code !== "timeout" && this.#retries < this.#policy.retries) {
      let again = attempt;
      let delay = this.#delay(error.retryAfterMs);
      const soonest = ring.soonest();
      // This key is to rest for too long; one that was refused before it may not be.
      if (delay === undefined && error.scope === "key" && soonest.cause === "rate_limit") {
        again = { ...attempt, key: soonest };
        delay = this.#delay(Math.max(0, soonest.restsUntil - now));
      }
      if (delay !== undefined && delay + LEAST_MS <= this.#left(now)) {
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
