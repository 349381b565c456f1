import { type Clock, type RateLimit, TokenBuckets } from "@signalbox/channel";
import type { DeliveryAccount } from "./account.ts";
import type { Destination } from "./outbox.ts";
import { destinationKey } from "./rows.ts";

/** For how long a complaint counts. */
const COMPLAINT_MS = 60_000;
const MOST_COMPLAINTS = 1_000;

type Limited = Pick<DeliveryAccount, "definition">;

/**
 * Keeps to the rates of a platform once it has complained, until a minute after its last complaint. As long as it takes
 * everything, nothing is held up: the limits that vendors document are often stricter than what they enforce.
 */
export class Rates {
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  readonly #buckets: TokenBuckets;
  /** Until when a rate is kept. */
  readonly #complaints = new Map<string, number>();

  /** @param stop ends all waiting */
  constructor(clock: Clock, stop: AbortSignal) {
    this.#clock = clock;
    this.#stop = stop;
    this.#buckets = new TokenBuckets(clock.now);
  }

  /** Waits until one more request may go. False where the wait was ended by `stop`. */
  async wait({ definition }: Limited, destination: Destination): Promise<boolean> {
    for (const rate of definition.capabilities.rate) {
      const key = rateKey(rate, destination);
      const ms = this.#isKept(key) ? this.#buckets.reserve(key, rate) : 0;
      if (ms > 0) await this.#clock.delay(ms, this.#stop).catch(() => {});
    }
    return !this.#stop.aborted;
  }

  /** The platform refused a request for its rate. */
  complain({ definition }: Limited, destination: Destination): void {
    const until = this.#clock.now() + COMPLAINT_MS;
    for (const rate of definition.capabilities.rate) {
      const key = rateKey(rate, destination);
      this.#buckets.pause(key, 1000 / rate.perSecond);
      this.#complaints.set(key, until);
    }
    if (this.#complaints.size > MOST_COMPLAINTS) this.#forgetOld();
  }

  #isKept(key: string): boolean {
    return (this.#complaints.get(key) ?? 0) > this.#clock.now();
  }

  #forgetOld(): void {
    for (const key of this.#complaints.keys()) if (!this.#isKept(key)) this.#complaints.delete(key);
  }
}

/** What a rate of a channel counts together. */
function rateKey({ scope }: RateLimit, destination: Destination): string {
  return scope === "account"
    ? `account ${destination.channel}/${destination.account}`
    : `conversation ${destinationKey(destination)}`;
}

/** The rates of a channel for one destination, of which only a `share` is to be used. */
export function sharedRates(
  { definition }: Limited,
  destination: Destination,
  share: number,
): { readonly key: string; readonly rule: { readonly perSecond: number; readonly burst: number } }[] {
  return definition.capabilities.rate.map((rate) => ({
    key: rateKey(rate, destination),
    rule: { perSecond: rate.perSecond * share, burst: Math.max(1, rate.burst * share) },
  }));
}
