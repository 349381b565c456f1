import { type Clock, reasonOf, type SendOptions, systemClock } from "@signalbox/channel";
import type { Backoff } from "@signalbox/lanes";
import type { Phrases } from "@signalbox/phrases";
import type { AccountLookup } from "./account.ts";
import { type AttemptPorts, attempt } from "./attempt.ts";
import { Failures, replyBackoff } from "./failures.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { ClaimedRow, LeaseToken, OutboxRow, OutboxStore, StoredReceipt } from "./outbox.ts";
import { MediaFailures } from "./part-deadlines.ts";
import { Rates } from "./rates.ts";
import { destinationKey, isUnsent } from "./rows.ts";
import { NotRecorded, type Settlement } from "./settlement.ts";
import { wordAboutDead, wordAboutExpired } from "./undelivered.ts";
import { type Pass, WakeUp } from "./wake-up.ts";
import { type LanguageOf, phrasesOfRows } from "./words.ts";

export interface DeliveryOptions<Row extends OutboxRow = OutboxRow> {
  readonly outbox: OutboxStore<Row>;
  readonly lease: LeaseToken;
  readonly account: AccountLookup;
  /** Whether the configuration names the account, whether it runs or not. */
  readonly configured: (channel: string, account: string) => boolean;
  /** The bytes of attachments. */
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  /** The language in which people are told of undelivered replies. Default: that of the reply. */
  readonly languageOf?: LanguageOf;
  /** Whether the store may well do later what it could not do now: its disk was full, or somebody held its lock. */
  readonly isPassing: (error: unknown) => boolean;
  readonly logger: DeliveryLogger;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Gives numbers in [0, 1), for the spread of retries. Default `Math.random`. */
  readonly random?: () => number;
  /** Called with the outcome for a row; `retry` is not final, and told again only for another reason. */
  readonly onSettled: (row: Row, state: DeliveryState, detail: string) => void;
}

export type DeliveryState = "sent" | "retry" | "dead" | "uncertain" | "expired";

/** Sends what is in the outbox: side by side to many destinations, one after the other to each. */
export interface Delivery<Row extends OutboxRow = OutboxRow> {
  /** Sends rows that were just committed. */
  deliver(rows: readonly Row[]): void;
  /** Looks for due rows: at the start, and after rows were added without being handed over. */
  wake(): void;
  /** Resolves when an unsent row is sent, or never will be; not in this process if another one sends it. */
  ended(rowId: string): Promise<void>;
  /** Takes no more rows; resolves when what is under way has ended, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
  /** How many rows are being sent. */
  inFlight(): number;
}

/** Rows taken in one claim. */
const CLAIM = 64;
/** How long a store that could not be read is left alone, in milliseconds. */
const UNREADABLE_MS = 5_000;

export function createDelivery<Row extends OutboxRow>(options: DeliveryOptions<Row>): Delivery<Row> {
  return new OutboxDelivery(options);
}

class OutboxDelivery<Row extends OutboxRow> implements Delivery<Row> {
  readonly #options: DeliveryOptions<Row>;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #now: () => number;
  /** Fires first: pending retries are no longer awaited. */
  readonly #draining = new AbortController();
  /** Ends requests that are under way. */
  readonly #stopping = new AbortController();
  readonly #failures: Failures;
  readonly #mediaFailures = new MediaFailures();
  readonly #inFlight = new Set<Promise<void>>();
  /** Destinations where a row may wait behind the one being sent, so that the store is not asked after every send. */
  readonly #mayHaveMore = new Set<string>();
  /** Rows whose end somebody waits for. */
  readonly #awaited = new Map<string, PromiseWithResolvers<void>>();
  readonly #ports: AttemptPorts;
  readonly #wakeUp: WakeUp;

  constructor(options: DeliveryOptions<Row>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#backoff = replyBackoff(options.random ?? Math.random);
    this.#now = this.#clock.now;
    this.#failures = new Failures(this.#backoff);
    this.#ports = {
      account: options.account,
      configured: options.configured,
      openMedia: options.openMedia,
      languageOf: options.languageOf,
      rates: new Rates(this.#clock, this.#stopping.signal),
      mediaFailures: this.#mediaFailures,
      logger: options.logger,
      now: this.#now,
      recordPart: (row: OutboxRow, receipt: StoredReceipt) =>
        this.#record(() => options.outbox.markPart(row.id, options.lease, receipt)),
      stopped: this.#stopping.signal,
    };
    this.#wakeUp = new WakeUp(() => this.#claim(), this.#clock);
  }

  deliver(rows: readonly Row[]): void {
    for (const row of rows) {
      if (row.state === "sending") this.#begin(row);
      else this.#mayHaveMore.add(destinationKey(row));
    }
    if (rows.some(({ state }) => state !== "sending")) this.#wakeUp.call();
  }

  wake(): void {
    this.#wakeUp.call();
  }

  async ended(rowId: string): Promise<void> {
    const awaited = this.#awaited.get(rowId) ?? Promise.withResolvers<void>();
    this.#awaited.set(rowId, awaited);
    const row = await this.#options.outbox.get(rowId);
    // It may have had its end before it was waited for.
    if (row === undefined || !isUnsent(row)) this.#release(rowId);
    return awaited.promise;
  }

  async stop(drainMs: number): Promise<void> {
    const claimed = this.#wakeUp.stop();
    this.#draining.abort();
    const drained = claimed.then(() => Promise.allSettled([...this.#inFlight]));
    const limit = new AbortController();
    await Promise.race([drained, this.#clock.delay(drainMs, limit.signal).catch(() => {})]);
    limit.abort();
    this.#stopping.abort(new Error("the gateway is stopping"));
    await claimed;
    await Promise.allSettled([...this.#inFlight]);
  }

  inFlight(): number {
    return this.#inFlight.size;
  }

  /**
   * Records what has happened at a platform, however long the store fails: to send again is no way out.
   * @throws NotRecorded
   */
  async #record(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!this.#options.isPassing(error) || this.#draining.signal.aborted) throw new NotRecorded(error);
        this.#options.logger.warn(
          { err: reasonOf(error) },
          "the state of a reply could not be written; it is tried again",
        );
        await this.#clock.delay(this.#backoff(tries), this.#draining.signal).catch(() => {
          throw new NotRecorded(error);
        });
      }
    }
  }

  #tellEnd(row: Row, state: DeliveryState, detail: string): void {
    this.#failures.forget(row.id);
    this.#mediaFailures.forget(row.id);
    this.#release(row.id);
    this.#options.onSettled(row, state, detail);
  }

  #release(rowId: string): void {
    this.#awaited.get(rowId)?.resolve();
    this.#awaited.delete(rowId);
  }

  /** Tries a row until it is settled or back in the outbox. Never rejects. */
  async #send(claimed: Claimed<Row>): Promise<void> {
    let row: Claimed<Row> | undefined = claimed;
    while (row !== undefined) row = await this.#settle(row, await attempt(this.#ports, row));
    if (this.#mayHaveMore.delete(destinationKey(claimed))) this.#wakeUp.call();
  }

  /** Commits what an attempt came to; gives the row back where it is kept in hand for another attempt. */
  async #settle(row: Claimed<Row>, settlement: Settlement): Promise<Claimed<Row> | undefined> {
    const { logger } = this.#options;
    const interrupted =
      this.#stopping.signal.aborted && settlement.state !== "sent" && settlement.state !== "untried";
    // The row stays as it is; the next start decides about it.
    if (interrupted) return undefined;
    try {
      return await this.#commit(row, settlement);
    } catch (error) {
      logger.error({ outbox: row.id, err: reasonOf(error) }, "the end of a reply could not be written");
      if (this.#stopping.signal.aborted) return undefined;
      const retry: Retry = { state: "retry", doubtful: mayBeOut(settlement), reason: reasonOf(error) };
      return this.#waitInHand(row, retry).catch((failure: unknown) => {
        logger.error({ outbox: row.id, err: reasonOf(failure) }, "a reply is left for the next start");
        return undefined;
      });
    }
  }

  async #commit(row: Claimed<Row>, settlement: Settlement): Promise<Claimed<Row> | undefined> {
    const { outbox, lease, logger } = this.#options;
    switch (settlement.state) {
      case "sent":
        await this.#record(() => outbox.markSent(row.id, lease, settlement.receipts));
        this.#tellEnd(row, "sent", settlement.detail);
        return undefined;
      case "untried":
        // It is as if it had not been claimed; a doubtful one stays so.
        if (row.doubtful !== true)
          await outbox.retryAt(row.id, lease, this.#now(), "the gateway stopped before it was sent");
        return undefined;
      case "retry":
        if (settlement.doubtful) return this.#waitInHand(row, settlement);
        await this.#giveBack(row, settlement);
        return undefined;
      case "uncertain":
        await this.#record(() => outbox.uncertain(row.id, lease, settlement.reason));
        this.#tellEnd(row, "uncertain", settlement.detail ?? settlement.reason);
        return undefined;
      case "dead": {
        const { reason, code } = settlement;
        const word = (await this.#isAwaited(row))
          ? wordAboutDead(row, code, await this.#phrasesOf([row]), this.#now())
          : undefined;
        await this.#record(() => outbox.dead(row.id, lease, reason, word));
        this.#wakeUp.call();
        logger.error({ outbox: row.id, channel: row.channel, err: reason }, "a reply cannot be delivered");
        this.#tellEnd(row, "dead", reason);
        return undefined;
      }
    }
  }

  async #giveBack(row: Claimed<Row>, { delayMs, reason }: Retry): Promise<void> {
    const { outbox, lease } = this.#options;
    const ms = delayMs ?? this.#failures.add(row.id);
    const at = this.#now() + ms;
    await this.#record(() => outbox.retryAt(row.id, lease, at, reason));
    this.#tellRetry(row, ms, reason);
    this.#wakeUp.callAt(at);
  }

  /**
   * A doubtful row given back as not sent would go out again without a look at the platform, so it is kept until it is
   * clear; and so is one whose end could not be written.
   */
  async #waitInHand(
    row: Claimed<Row>,
    { delayMs, doubtful, reason }: Retry,
  ): Promise<Claimed<Row> | undefined> {
    const { outbox, lease } = this.#options;
    const ms = delayMs ?? this.#failures.add(row.id);
    if (row.expiresAt !== undefined && this.#now() + ms >= row.expiresAt) {
      await this.#record(() => outbox.uncertain(row.id, lease, reason));
      this.#tellEnd(row, "uncertain", reason);
      return undefined;
    }
    this.#tellRetry(row, ms, reason);
    await this.#clock.delay(ms, this.#draining.signal).catch(() => {});
    if (this.#draining.signal.aborted) return undefined;
    const { receipts, updatedAt } = (await outbox.get(row.id)) ?? row;
    return { ...row, receipts, updatedAt, doubtful, attempts: row.attempts + 1 };
  }

  #tellRetry(row: Row, delayMs: number, reason: string): void {
    const { id, channel, attempts } = row;
    this.#options.logger.warn(
      { outbox: id, channel, attempts, delayMs, err: reason },
      "a reply will be retried",
    );
    if (this.#failures.isNews(id, reason))
      this.#options.onSettled(row, "retry", `${reason}; again in ${delayMs} ms`);
  }

  #begin(row: Claimed<Row>): void {
    const sending = this.#send(row);
    this.#inFlight.add(sending);
    void sending.finally(() => this.#inFlight.delete(sending));
  }

  #phrasesOf(rows: readonly Row[]): Promise<Phrases> {
    return phrasesOfRows(rows, this.#options.languageOf);
  }

  /** Whether somebody waits for it: not for a question of ours, nor for a word about another reply. */
  async #isAwaited({ id }: Row): Promise<boolean> {
    return (await this.#options.outbox.awaiting(id)).length > 0;
  }

  /** Ends what is too old to be sent, with one notice to each destination where a person waits. */
  async #expireOverdue(): Promise<void> {
    const { outbox, lease, logger } = this.#options;
    const overdue = await outbox.overdue();
    for (const rows of Map.groupBy(overdue, destinationKey).values()) {
      const awaited: Row[] = [];
      for (const row of rows) if (await this.#isAwaited(row)) awaited.push(row);
      const ids = rows.map(({ id }) => id);
      const word = wordAboutExpired(awaited, await this.#phrasesOf(awaited), this.#now());
      for (const row of await outbox.expire(ids, lease, word)) {
        logger.warn({ outbox: row.id, channel: row.channel }, "a reply was too old to be sent");
        this.#tellEnd(row, "expired", "too old to be sent");
      }
    }
  }

  /** Takes the rows that are due. */
  async #claim(): Promise<Pass> {
    const { outbox, lease, logger } = this.#options;
    try {
      await this.#expireOverdue();
      const { rows, nextAt } = await outbox.claimDue({ lease, limit: CLAIM });
      for (const row of rows) {
        // The store gives out one row of a destination at a time.
        this.#mayHaveMore.add(destinationKey(row));
        this.#begin(row);
      }
      return { again: rows.length === CLAIM && !this.#stopping.signal.aborted, nextAt };
    } catch (error) {
      logger.error({ err: reasonOf(error) }, "the outbox could not be read");
      return { again: false, nextAt: this.#now() + UNREADABLE_MS };
    }
  }
}

/** Whether the platform may have a part that the store does not know of: it is looked for before it is sent again. */
function mayBeOut(settlement: Settlement): boolean {
  if (settlement.state === "retry") return settlement.doubtful;
  return settlement.state === "sent" || settlement.state === "uncertain";
}

type Claimed<Row extends OutboxRow> = Row & ClaimedRow;
type Retry = Extract<Settlement, { state: "retry" }>;
