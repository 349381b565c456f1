import { type ChannelErrorCode, reasonOf, systemClock } from "@signalbox/channel";
import type { Backoff } from "@signalbox/lanes";
import type { Phrases } from "@signalbox/phrases";
import { isRetryable as isRetryableStoreError } from "@signalbox/store/errors";
import { type AttemptContext, attempt } from "./attempt.ts";
import { type AttemptResult, NotRecorded } from "./attempt-result.ts";
import type { Delivery, DeliveryOptions, DeliveryOutcome, NonDelivery } from "./delivery-types.ts";
import { createReplyBackoff, Failures } from "./failures.ts";
import { findSentRow } from "./find-sent-row.ts";
import { isLeaseHeld } from "./lease-limit.ts";
import type { ClaimedRow, OutboxRow } from "./outbox.ts";
import { MediaFailures } from "./part-deadlines.ts";
import { type Pass, Poller } from "./poller.ts";
import { Rates } from "./rates.ts";
import { getPhrases } from "./row-phrases.ts";
import { getDestinationKey, isUnsent } from "./rows.ts";
import { createExpiryNotice, createRejectionNotice, createUncertaintyNotice } from "./sender-notices.ts";

/** Maximum number of rows to claim in one transaction. */
const CLAIM_LIMIT = 64;
/** Delay in milliseconds after the store could not be read. */
const STORE_RETRY_MS = 5_000;
/** Delay in milliseconds until the next check of a lease that has expired. */
const LEASE_CHECK_MS = 1_000;

/**
 * Creates a delivery. Call `wake` once to send rows of an earlier process.
 *
 * @example
 * const delivery = createDelivery({ outbox: store.outbox, lease, account, logger: console });
 * delivery.wake();
 * delivery.deliver(await store.outbox.enqueue([row], { lease }));
 */
export function createDelivery(options: DeliveryOptions): Delivery {
  const {
    configured = () => true,
    unableToSend = () => [],
    openMedia = () => Promise.reject(new Error("Attachments need the option openMedia of createDelivery.")),
    isRetryable = isRetryableStoreError,
    onOutcome = () => {},
    clock = systemClock,
    random = Math.random,
  } = options;
  return new OutboxDelivery({
    ...options,
    configured,
    unableToSend,
    openMedia,
    isRetryable,
    onOutcome,
    clock,
    random,
  });
}

type Optional = "getLanguage" | "getLeaseMs";
type Context = Omit<Required<DeliveryOptions>, Optional> & Pick<DeliveryOptions, Optional>;
type Retry = Extract<AttemptResult, { state: "retry" }>;

class OutboxDelivery implements Delivery {
  readonly #context: Context;
  readonly #backoff: Backoff;
  readonly #now: () => number;
  /** Fires before `#stopping`: pending retries are abandoned. */
  readonly #draining = new AbortController();
  /** Aborts the current requests. */
  readonly #stopping = new AbortController();
  readonly #failures: Failures;
  readonly #mediaFailures = new MediaFailures();
  readonly #inFlight = new Set<Promise<void>>();
  /** Destinations with possibly more waiting rows. For others, the store is not polled after a send. */
  readonly #mayHaveMore = new Set<string>();
  /** Rows that callers of `ended` are waiting for. */
  readonly #awaited = new Map<string, PromiseWithResolvers<void>>();
  readonly #attemptContext: AttemptContext;
  readonly #poller: Poller;

  constructor(context: Context) {
    const { outbox, lease, clock } = context;
    this.#context = context;
    this.#backoff = createReplyBackoff(context.random);
    this.#now = clock.now;
    this.#failures = new Failures(this.#backoff);
    this.#attemptContext = {
      account: context.account,
      configured: context.configured,
      unableToSend: context.unableToSend,
      openMedia: context.openMedia,
      getLanguage: context.getLanguage,
      rates: new Rates(clock, this.#stopping.signal),
      mediaFailures: this.#mediaFailures,
      logger: context.logger,
      now: this.#now,
      clock,
      getLeaseMs: context.getLeaseMs,
      recordPart: (row, receipt) => this.#record(() => outbox.markPart(row.id, lease, receipt)),
      stopped: this.#stopping.signal,
    };
    this.#poller = new Poller(() => this.#claim(), clock);
  }

  deliver(rows: readonly OutboxRow[]): void {
    for (const row of rows) {
      if (row.state === "sending") this.#begin(row);
      else this.#mayHaveMore.add(getDestinationKey(row));
    }
    if (rows.some(({ state }) => state !== "sending")) this.#poller.poll();
  }

  wake(): void {
    this.#poller.poll();
  }

  async ended(rowId: string): Promise<void> {
    const awaited = this.#awaited.get(rowId) ?? Promise.withResolvers<void>();
    this.#awaited.set(rowId, awaited);
    // Read after the registration: the row may end in between.
    const row = await this.#context.outbox.get(rowId);
    if (row === undefined || !isUnsent(row)) this.#release(rowId);
    return awaited.promise;
  }

  async notDelivered(report: NonDelivery): Promise<OutboxRow | "busy" | undefined> {
    const { outbox, lease, clock, logger } = this.#context;
    const row = await findSentRow(outbox, report, clock, this.#draining.signal);
    if (row === undefined || row === "busy" || row.state !== "sent") return row;
    const { reason, code } = report;
    const notice = await this.#createRejectionNotice(row, code);
    if (!(await outbox.notDelivered(row.id, lease, reason, notice))) return row;
    this.#poller.poll();
    const { id, channel } = row;
    logger.error(
      { outbox: id, channel, err: reason },
      "the platform did not deliver a reply that it had accepted",
    );
    this.#reportEnd(row, "dead", `the platform accepted it and did not deliver it: ${reason}`);
    return row;
  }

  async stop(drainMs: number): Promise<void> {
    const claimed = this.#poller.stop();
    this.#draining.abort();
    const drained = claimed.then(() => Promise.allSettled([...this.#inFlight]));
    const limit = new AbortController();
    await Promise.race([drained, this.#context.clock.delay(drainMs, limit.signal).catch(() => {})]);
    limit.abort();
    this.#stopping.abort(new Error("Delivery is stopping."));
    await claimed;
    await Promise.allSettled([...this.#inFlight]);
  }

  inFlight(): number {
    return this.#inFlight.size;
  }

  /**
   * Records the outcome on a platform, or reads the row of an unknown one. Retries as long as the store fails, because
   * sending again could create a duplicate, and a row that this process gives up stays claimed until it ends.
   *
   * @throws NotRecorded
   */
  async #record<T>(access: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await access();
      } catch (error) {
        if (!this.#context.isRetryable(error) || this.#draining.signal.aborted) throw new NotRecorded(error);
        this.#context.logger.warn(
          { err: reasonOf(error) },
          "the state of a reply could not be stored or read; retrying",
        );
        await this.#context.clock.delay(this.#backoff(tries), this.#draining.signal).catch(() => {
          throw new NotRecorded(error);
        });
      }
    }
  }

  #reportEnd(row: OutboxRow, outcome: DeliveryOutcome, detail: string): void {
    this.#failures.delete(row.id);
    this.#mediaFailures.delete(row.id);
    this.#release(row.id);
    this.#context.onOutcome(row, outcome, detail);
  }

  #release(rowId: string): void {
    this.#awaited.get(rowId)?.resolve();
    this.#awaited.delete(rowId);
  }

  /** Tries a row until it has ended or is back in the outbox. Never rejects. */
  async #send(claimed: ClaimedRow): Promise<void> {
    let row: ClaimedRow | undefined = claimed;
    while (row !== undefined) row = await this.#complete(row, await attempt(this.#attemptContext, row));
    if (this.#mayHaveMore.delete(getDestinationKey(claimed))) this.#poller.poll();
  }

  /** Commits the result of an attempt. Returns the row if this process keeps it for another attempt. */
  async #complete(row: ClaimedRow, result: AttemptResult): Promise<ClaimedRow | undefined> {
    const { logger } = this.#context;
    const isAborted =
      this.#stopping.signal.aborted && !["sent", "postponed", "untried"].includes(result.state);
    // Leave the row as `sending`. The next process decides what to do with it.
    if (isAborted) return undefined;
    try {
      return await this.#commit(row, result);
    } catch (error) {
      logger.error({ outbox: row.id, err: reasonOf(error) }, "the end of a reply could not be stored");
      if (this.#stopping.signal.aborted) return undefined;
      const retry: Retry = { state: "retry", doubtful: mayBeSent(result), reason: reasonOf(error) };
      return this.#hold(row, retry).catch((failure: unknown) => {
        logger.error({ outbox: row.id, err: reasonOf(failure) }, "a reply is left for the next start");
        return undefined;
      });
    }
  }

  async #commit(row: ClaimedRow, result: AttemptResult): Promise<ClaimedRow | undefined> {
    const { outbox, lease, logger } = this.#context;
    switch (result.state) {
      case "sent":
        await this.#record(() => outbox.markSent(row.id, lease, result.receipts));
        this.#reportEnd(row, "sent", result.detail);
        return undefined;
      case "postponed": {
        const at = this.#now() + result.delayMs;
        await outbox.retryAt(row.id, lease, at, "waits for the rate limit of the platform");
        this.#poller.pollAt(at);
        return undefined;
      }
      case "untried":
        // Return the row as if it had not been claimed. A doubtful row stays `sending`, so it stays doubtful.
        if (row.doubtful !== true)
          await outbox.retryAt(row.id, lease, this.#now(), "delivery stopped before it was sent");
        return undefined;
      case "retry":
        if (result.doubtful) return this.#hold(row, result);
        await this.#retryLater(row, result);
        return undefined;
      case "handed_over":
        await outbox.handOver(row.id, lease);
        this.#reportRetry(row, 0, result.reason);
        return undefined;
      case "uncertain":
        await this.#endUncertain(row, result.reason, result.detail);
        return undefined;
      case "dead": {
        const { reason, code } = result;
        const notice = await this.#createRejectionNotice(row, code);
        await this.#record(() => outbox.dead(row.id, lease, reason, notice));
        this.#poller.poll();
        logger.error({ outbox: row.id, channel: row.channel, err: reason }, "a reply cannot be delivered");
        this.#reportEnd(row, "dead", reason);
        return undefined;
      }
    }
  }

  async #endUncertain(row: ClaimedRow, reason: string, detail: string = reason): Promise<void> {
    const { outbox, lease } = this.#context;
    const notice = (await this.#isAwaited(row))
      ? createUncertaintyNotice(row, await this.#getPhrases([row]), this.#now())
      : undefined;
    await this.#record(() => outbox.uncertain(row.id, lease, reason, notice));
    this.#poller.poll();
    this.#reportEnd(row, "uncertain", detail);
  }

  async #retryLater(row: ClaimedRow, { delayMs, reason }: Retry): Promise<void> {
    const { outbox, lease } = this.#context;
    const ms = delayMs ?? this.#failures.add(row.id);
    const at = this.#now() + ms;
    await this.#record(() => outbox.retryAt(row.id, lease, at, reason));
    this.#reportRetry(row, ms, reason);
    this.#poller.pollAt(at);
  }

  /**
   * Waits for the next attempt without returning the row to the outbox. A doubtful row must not be returned, because it
   * would be sent again without a lookup. The same applies if its result could not be stored.
   */
  async #hold(row: ClaimedRow, { delayMs, doubtful, reason }: Retry): Promise<ClaimedRow | undefined> {
    const { outbox, clock, getLeaseMs } = this.#context;
    const ms = delayMs ?? this.#failures.add(row.id);
    if (row.expiresAt !== undefined && this.#now() + ms >= row.expiresAt) {
      await this.#endUncertain(row, reason);
      return undefined;
    }
    this.#reportRetry(row, ms, reason);
    await clock.delay(ms, this.#draining.signal).catch(() => {});
    // While the lease is expired, another process can claim the row, so read the row after the renewal.
    while (!isLeaseHeld(getLeaseMs) && !this.#draining.signal.aborted)
      await clock.delay(LEASE_CHECK_MS, this.#draining.signal).catch(() => {});
    if (this.#draining.signal.aborted) return undefined;
    const { receipts, updatedAt, attempts: current } = (await this.#record(() => outbox.get(row.id))) ?? row;
    const claim = row.claim ?? row.attempts;
    if (getLeaseMs !== undefined && current !== claim) return undefined;
    return { ...row, receipts, updatedAt, doubtful, claim, attempts: row.attempts + 1 };
  }

  #reportRetry(row: OutboxRow, delayMs: number, reason: string): void {
    const { id, channel, attempts } = row;
    const { logger, onOutcome } = this.#context;
    logger.warn({ outbox: id, channel, attempts, delayMs, err: reason }, "a reply will be retried");
    if (this.#failures.isNewReason(id, reason)) onOutcome(row, "retry", `${reason}; again in ${delayMs} ms`);
  }

  #begin(row: ClaimedRow): void {
    const sending = this.#send(row);
    this.#inFlight.add(sending);
    void sending.finally(() => this.#inFlight.delete(sending));
  }

  #getPhrases(rows: readonly OutboxRow[]): Promise<Phrases> {
    return getPhrases(rows, this.#context.getLanguage);
  }

  async #createRejectionNotice(row: OutboxRow, code: ChannelErrorCode | undefined) {
    if (!(await this.#isAwaited(row))) return undefined;
    return createRejectionNotice(row, code, await this.#getPhrases([row]), this.#now());
  }

  /** Returns true if a person is waiting for this row. Nobody waits for questions and notices from the gateway. */
  async #isAwaited({ id }: OutboxRow): Promise<boolean> {
    return (await this.#context.outbox.awaiting(id)).length > 0;
  }

  /** Ends expired rows, with one notice to each destination where a person is waiting. */
  async #expireOverdue(): Promise<void> {
    const { outbox, lease, logger } = this.#context;
    const overdue = await outbox.overdue();
    for (const rows of Map.groupBy(overdue, getDestinationKey).values()) {
      const awaited: OutboxRow[] = [];
      for (const row of rows) if (await this.#isAwaited(row)) awaited.push(row);
      const ids = rows.map(({ id }) => id);
      const notice = createExpiryNotice(awaited, await this.#getPhrases(awaited), this.#now());
      for (const row of await outbox.expire(ids, lease, notice)) {
        logger.warn({ outbox: row.id, channel: row.channel }, "a reply expired before it could be sent");
        this.#reportEnd(row, "expired", "too old to be sent");
      }
    }
  }

  async #claim(): Promise<Pass> {
    const { outbox, lease, logger, getLeaseMs, unableToSend } = this.#context;
    // Rows that were claimed now could not be sent.
    if (!isLeaseHeld(getLeaseMs)) return { again: false, nextAt: this.#now() + LEASE_CHECK_MS };
    try {
      await this.#expireOverdue();
      const { rows, nextAt } = await outbox.claimDue({ lease, limit: CLAIM_LIMIT, except: unableToSend() });
      for (const row of rows) {
        // The store returns one row per destination, so others may be waiting behind it.
        this.#mayHaveMore.add(getDestinationKey(row));
        this.#begin(row);
      }
      return { again: rows.length === CLAIM_LIMIT && !this.#stopping.signal.aborted, nextAt };
    } catch (error) {
      logger.error({ err: reasonOf(error) }, "the outbox could not be read");
      return { again: false, nextAt: this.#now() + STORE_RETRY_MS };
    }
  }
}

/**
 * Returns true if the platform may have received a part without a stored receipt. Such a part is looked up before it is
 * sent again.
 */
function mayBeSent(result: AttemptResult): boolean {
  if (result.state === "retry") return result.doubtful;
  return ["sent", "uncertain", "handed_over"].includes(result.state);
}
