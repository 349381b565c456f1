import { type Clock, type RateLimit, TokenBuckets } from "@signalbox/channel";
import type { DeliveryAccount } from "./account.ts";
import type { Destination } from "./outbox.ts";
import { getDestinationKey } from "./rows.ts";

/** Time in milliseconds for which a channel's rates are enforced after a rejected request. */
const ENFORCED_MS = 60_000;
const MAX_ENTRIES = 1_000;

type Limited = Pick<DeliveryAccount, "definition">;

/**
 * Enforces a channel's declared rate limits for a minute after the platform rejected a request because of its rate.
 * Without a rejection, nothing is delayed, because documented limits are often stricter than the enforced ones.
 */
export class Rates {
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  readonly #buckets: TokenBuckets;
  /** The times until which rates are enforced. */
  readonly #enforcedUntil = new Map<string, number>();
  /** The time at which the first request for a row is allowed, by the row's id. */
  readonly #reserved = new Map<string, number>();

  /** @param stop ends all waits */
  constructor(clock: Clock, stop: AbortSignal) {
    this.#clock = clock;
    this.#stop = stop;
    this.#buckets = new TokenBuckets(clock.now);
  }

  /** Waits until one more request is allowed. Resolves with false if `stop` ended the wait. */
  async wait(account: Limited, destination: Destination): Promise<boolean> {
    const ms = this.#reserve(account, destination);
    if (ms > 0) await this.#clock.delay(ms, this.#stop).catch(() => {});
    return !this.#stop.aborted;
  }

  /**
   * Counts the first request for a row. Returns the number of milliseconds until it is allowed. The same row keeps its
   * reservation when it is tried again after that time.
   */
  reserve(account: Limited, row: Destination & { readonly id: string }): number {
    const now = this.#clock.now();
    const allowedAt = this.#reserved.get(row.id) ?? now + this.#reserve(account, row);
    if (allowedAt > now) this.#reserved.set(row.id, allowedAt);
    else this.#reserved.delete(row.id);
    if (this.#reserved.size > MAX_ENTRIES) this.#deleteUnused();
    return Math.max(0, allowedAt - now);
  }

  #reserve({ definition }: Limited, destination: Destination): number {
    const waits = definition.capabilities.rate.map((rate) => {
      const key = getRateKey(rate, destination);
      return this.#isEnforced(key) ? this.#buckets.reserve(key, rate) : 0;
    });
    return Math.max(0, ...waits);
  }

  /** Deletes reservations of rows that ended without being tried again. */
  #deleteUnused(): void {
    const oldest = this.#clock.now() - ENFORCED_MS;
    for (const [id, allowedAt] of this.#reserved) if (allowedAt < oldest) this.#reserved.delete(id);
  }

  /** Starts enforcing the rates after the platform rejected a request. */
  enforce({ definition }: Limited, destination: Destination): void {
    const until = this.#clock.now() + ENFORCED_MS;
    for (const rate of definition.capabilities.rate) {
      const key = getRateKey(rate, destination);
      this.#buckets.pause(key, 1000 / rate.perSecond);
      this.#enforcedUntil.set(key, until);
    }
    if (this.#enforcedUntil.size > MAX_ENTRIES) this.#deleteOld();
  }

  #isEnforced(key: string): boolean {
    return (this.#enforcedUntil.get(key) ?? 0) > this.#clock.now();
  }

  #deleteOld(): void {
    for (const key of this.#enforcedUntil.keys()) if (!this.#isEnforced(key)) this.#enforcedUntil.delete(key);
  }
}

function getRateKey({ scope }: RateLimit, destination: Destination): string {
  return scope === "account"
    ? `account ${destination.channel}/${destination.account}`
    : `conversation ${getDestinationKey(destination)}`;
}

/** Returns the rates of a channel for one destination, reduced to a share. */
export function getReducedRates(
  { definition }: Limited,
  destination: Destination,
  share: number,
): { readonly key: string; readonly rule: { readonly perSecond: number; readonly burst: number } }[] {
  return definition.capabilities.rate.map((rate) => ({
    key: getRateKey(rate, destination),
    rule: { perSecond: rate.perSecond * share, burst: Math.max(1, rate.burst * share) },
  }));
}
