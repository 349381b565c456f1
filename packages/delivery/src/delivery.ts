import { type Clock, reasonOf, type SendOptions, systemClock } from "@signalbox/channel";
import type { AccountLookup } from "./account.ts";
import { attempt } from "./attempt.ts";
import { backoffMs, FailureCounts } from "./backoff.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { ClaimedRow, LeaseToken, OutboxRow, OutboxStore, StoredReceipt } from "./outbox.ts";
import { MediaFailures } from "./part-deadlines.ts";
import { Rates } from "./rates.ts";
import { destinationKey } from "./rows.ts";
import { NotRecorded, type Settlement } from "./settlement.ts";
import { wordAboutDead, wordAboutExpired } from "./undelivered.ts";
import { type Pass, WakeUp } from "./wake-up.ts";

export interface DeliveryOptions<Row extends OutboxRow = OutboxRow> {
  readonly outbox: OutboxStore<Row>;
  readonly lease: LeaseToken;
  readonly account: AccountLookup;
  /** Whether the configuration names the account, also while it does not run. */
  readonly configured: (channel: string, account: string) => boolean;
  /** The bytes of attachments. */
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  /** Whether the store may well do later what it could not do now: its disk was full, or somebody held its lock. */
  readonly isPassing: (error: unknown) => boolean;
  readonly logger: DeliveryLogger;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Gives numbers in [0, 1), for the spread of retries. Default `Math.random`. */
  readonly random?: () => number;
  /** Told what became of a row; `retry` is no end. */
  readonly onSettled: (row: Row, state: DeliveryState, detail: string) => void;
}

export type DeliveryState = "sent" | "retry" | "dead" | "uncertain" | "expired";

/** Sends what is in the outbox: side by side to many destinations, one after the other to each. */
export interface Delivery<Row extends OutboxRow = OutboxRow> {
  /** Sends rows that were just committed. */
  deliver(rows: readonly Row[]): void;
  /** Looks for rows that are due: at the start, and after rows were added that nobody handed over. */
  wake(): void;
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
  const { outbox, lease, logger, clock = systemClock, random = Math.random } = options;
  const { now } = clock;
  /** Fires first: nobody waits for a next attempt any more. */
  const draining = new AbortController();
  /** Ends requests that are under way. */
  const stopping = new AbortController();
  const failures = new FailureCounts(random);
  const mediaFailures = new MediaFailures();
  const inFlight = new Set<Promise<void>>();
  /** Destinations where a row may wait behind the one being sent, so that the store is not asked after every send. */
  const mayHaveMore = new Set<string>();

  const ports = {
    account: options.account,
    configured: options.configured,
    openMedia: options.openMedia,
    rates: new Rates(clock, stopping.signal),
    mediaFailures,
    logger,
    now,
    recordPart: (row: OutboxRow, receipt: StoredReceipt) =>
      record(() => outbox.markPart(row.id, lease, receipt)),
    stopped: stopping.signal,
  };

  /**
   * Records what has happened at a platform, however long the store fails: to send again is no way out.
   * @throws NotRecorded
   */
  const record = async (write: () => Promise<void>): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!options.isPassing(error) || draining.signal.aborted) throw new NotRecorded(error);
        logger.warn({ err: reasonOf(error) }, "the state of a reply could not be written; it is tried again");
        await clock.delay(backoffMs(tries, random), draining.signal).catch(() => {
          throw new NotRecorded(error);
        });
      }
    }
  };

  const tellEnd = (row: Row, state: DeliveryState, detail: string): void => {
    failures.forget(row.id);
    mediaFailures.forget(row.id);
    options.onSettled(row, state, detail);
  };

  /** Tries a row until it is settled or back in the outbox. Never rejects. */
  const send = async (claimed: Claimed<Row>): Promise<void> => {
    let row: Claimed<Row> | undefined = claimed;
    while (row !== undefined) row = await settle(row, await attempt(ports, row));
    if (mayHaveMore.delete(destinationKey(claimed))) wakeUp.call();
  };

  /** Commits what an attempt came to; gives the row back where it is kept in hand for another attempt. */
  const settle = async (row: Claimed<Row>, settlement: Settlement): Promise<Claimed<Row> | undefined> => {
    const interrupted =
      stopping.signal.aborted && settlement.state !== "sent" && settlement.state !== "untried";
    // The row stays as it is; the next start decides about it.
    if (interrupted) return undefined;
    try {
      return await commit(row, settlement);
    } catch (error) {
      logger.error({ outbox: row.id, err: reasonOf(error) }, "the end of a reply could not be written");
      if (stopping.signal.aborted || settlement.state !== "sent") return undefined;
      // It is out, which the store does not know: it is looked for before it is sent again.
      return waitInHand(row, { state: "retry", doubtful: true, reason: reasonOf(error) }).catch(
        (failure: unknown) => {
          logger.error({ outbox: row.id, err: reasonOf(failure) }, "a reply is left to the next start");
          return undefined;
        },
      );
    }
  };

  const commit = async (row: Claimed<Row>, settlement: Settlement): Promise<Claimed<Row> | undefined> => {
    switch (settlement.state) {
      case "sent":
        await record(() => outbox.markSent(row.id, lease, settlement.receipts));
        tellEnd(row, "sent", settlement.detail);
        return undefined;
      case "untried":
        // It is as if it had not been claimed; a doubtful one stays so.
        if (row.doubtful !== true)
          await outbox.retryAt(row.id, lease, now(), "the gateway stopped before it was sent");
        return undefined;
      case "retry":
        if (settlement.doubtful) return waitInHand(row, settlement);
        await giveBack(row, settlement);
        return undefined;
      case "uncertain":
        await record(() => outbox.uncertain(row.id, lease, settlement.reason));
        tellEnd(row, "uncertain", settlement.detail ?? settlement.reason);
        return undefined;
      case "dead": {
        const { reason, code } = settlement;
        const word = (await isAwaited(row)) ? wordAboutDead(row, code, now()) : undefined;
        await record(() => outbox.dead(row.id, lease, reason, word));
        wakeUp.call();
        logger.error({ outbox: row.id, channel: row.channel, err: reason }, "a reply cannot be delivered");
        tellEnd(row, "dead", reason);
        return undefined;
      }
    }
  };

  const giveBack = async (row: Claimed<Row>, { delayMs, reason }: Retry): Promise<void> => {
    const ms = delayMs ?? failures.add(row.id);
    const at = now() + ms;
    await record(() => outbox.retryAt(row.id, lease, at, reason));
    tellRetry(row, ms, reason);
    wakeUp.callAt(at);
  };

  /**
   * A doubtful row given back as not sent would go out again without a look at the platform, so it is kept until it is
   * clear.
   */
  const waitInHand = async (
    row: Claimed<Row>,
    { delayMs, reason }: Retry,
  ): Promise<Claimed<Row> | undefined> => {
    const ms = delayMs ?? failures.add(row.id);
    if (row.expiresAt !== undefined && now() + ms >= row.expiresAt) {
      await record(() => outbox.uncertain(row.id, lease, reason));
      tellEnd(row, "uncertain", reason);
      return undefined;
    }
    tellRetry(row, ms, reason);
    await clock.delay(ms, draining.signal).catch(() => {});
    if (draining.signal.aborted) return undefined;
    const receipts = (await outbox.get(row.id))?.receipts ?? row.receipts;
    return { ...row, receipts, doubtful: true, attempts: row.attempts + 1 };
  };

  const tellRetry = (row: Row, delayMs: number, reason: string): void => {
    const { id, channel, attempts } = row;
    logger.warn({ outbox: id, channel, attempts, delayMs, err: reason }, "a reply waits");
    options.onSettled(row, "retry", `${reason}; again in ${delayMs} ms`);
  };

  const begin = (row: Claimed<Row>): void => {
    const sending = send(row);
    inFlight.add(sending);
    void sending.finally(() => inFlight.delete(sending));
  };

  /** Whether somebody waits for it: not for a question of ours, nor for a word about another reply. */
  const isAwaited = async ({ id }: Row): Promise<boolean> => (await outbox.awaiting(id)).length > 0;

  /** Ends what is too old to be sent, with one word to each destination where somebody waits. */
  const expireOverdue = async (): Promise<void> => {
    const overdue = await outbox.overdue();
    for (const rows of Map.groupBy(overdue, destinationKey).values()) {
      const awaited: Row[] = [];
      for (const row of rows) if (await isAwaited(row)) awaited.push(row);
      const ids = rows.map(({ id }) => id);
      for (const row of await outbox.expire(ids, lease, wordAboutExpired(awaited, now()))) {
        logger.warn({ outbox: row.id, channel: row.channel }, "a reply was too old to be sent");
        tellEnd(row, "expired", "too old to be sent");
      }
    }
  };

  /** Takes the rows that are due. */
  const claim = async (): Promise<Pass> => {
    try {
      await expireOverdue();
      const { rows, nextAt } = await outbox.claimDue({ lease, limit: CLAIM });
      for (const row of rows) {
        // The store gives out one row of a destination at a time.
        mayHaveMore.add(destinationKey(row));
        begin(row);
      }
      return { again: rows.length === CLAIM && !stopping.signal.aborted, nextAt };
    } catch (error) {
      logger.error({ err: reasonOf(error) }, "the outbox could not be read");
      return { again: false, nextAt: now() + UNREADABLE_MS };
    }
  };
  const wakeUp = new WakeUp(claim, clock);

  return {
    deliver(rows) {
      for (const row of rows) {
        if (row.state === "sending") begin(row);
        else mayHaveMore.add(destinationKey(row));
      }
      if (rows.some(({ state }) => state !== "sending")) wakeUp.call();
    },
    wake: () => wakeUp.call(),
    async stop(drainMs) {
      const claimed = wakeUp.stop();
      draining.abort();
      const drained = claimed.then(() => Promise.allSettled([...inFlight]));
      const limit = new AbortController();
      await Promise.race([drained, clock.delay(drainMs, limit.signal).catch(() => {})]);
      limit.abort();
      stopping.abort(new Error("the gateway is stopping"));
      await claimed;
      await Promise.allSettled([...inFlight]);
    },
    inFlight: () => inFlight.size,
  };
}

type Claimed<Row extends OutboxRow> = Row & ClaimedRow;
type Retry = Extract<Settlement, { state: "retry" }>;
